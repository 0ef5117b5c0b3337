//! The contract row by row, over a real socket: what each call does, what it refuses, that it can be
//! repeated, and what it changes in every other list.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "contract/bad_fields.rs"]
mod bad_fields;
#[path = "contract/bad_input.rs"]
mod bad_input;
#[path = "contract/calls.rs"]
mod calls;
#[allow(dead_code, reason = "shared with tests/http")]
#[path = "http/client.rs"]
mod client;
#[path = "contract/world.rs"]
mod world;
