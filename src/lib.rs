//! Tideline: a self-hosted timeline-feed server.
//!
//! A host application tells it who follows whom and what was published; it answers "the newest N
//! things from the people I follow, before this point". `docs/architecture.md` walks through it.

pub mod backlog;
pub mod backup;
pub mod cache;
pub mod cli;
pub mod clock;
pub mod cluster;
pub mod config;
pub mod error;
pub mod failpoint;
pub mod feed;
pub mod http;
pub mod model;
mod priority;
mod private;
pub mod server;
pub mod store;
pub mod streaming;
mod stripes;
mod sync;
pub mod trace;
pub mod worker;

// The double names this crate as the other tests do.
#[cfg(test)]
extern crate self as tideline;
#[cfg(test)]
#[path = "../tests/double/mod.rs"]
#[allow(dead_code)]
mod double;
