//! Past every bound a clear no: 503 with `Retry-After`, nothing written, nothing lost, and all is
//! well again once the load is gone. Against the real binary, with limits so small that a test can
//! pass them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "overload/answers.rs"]
mod answers;
#[path = "overload/connections.rs"]
mod connections;
#[path = "overload/jobs.rs"]
mod jobs;
mod server;
