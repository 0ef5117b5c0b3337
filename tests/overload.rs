//! Beyond every limit a clear refusal: 503 with `Retry-After`, nothing written, nothing lost, and normal service after
//! the load. Against the real binary, with limits small enough for a test to exceed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "overload/answers.rs"]
mod answers;
#[path = "overload/connections.rs"]
mod connections;
#[path = "overload/jobs.rs"]
mod jobs;
mod server;
