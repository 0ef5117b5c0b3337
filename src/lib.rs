//! Tideline: a self-hosted timeline-feed server.
//!
//! A host application tells it who follows whom and what was published; it answers "the newest N
//! things from the people I follow, before this point". `docs/architecture.md` walks through it.

pub mod cli;
mod context;
mod prelude;
pub mod server;
