//! Past every bound a clear no: 503 with `Retry-After`, nothing written, nothing lost, and all is
//! well again once the load is gone. Against the real binary, with limits so small that a test can
//! pass them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "overload/answers.rs"]
mod answers;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "http/client.rs"]
mod client;
#[path = "overload/connections.rs"]
mod connections;
#[path = "overload/jobs.rs"]
mod jobs;

use std::time::{Duration, Instant};

use client::{PATIENCE, Server};

/// Waits until a figure of `/metrics` is as it should be.
fn wait_for(server: &Server, name: &str, good: impl Fn(f64) -> bool) {
    let began = Instant::now();
    while !good(server.figure(name)) {
        assert!(began.elapsed() < PATIENCE, "{name} stays {}", server.figure(name));
        std::thread::sleep(Duration::from_millis(10));
    }
}
