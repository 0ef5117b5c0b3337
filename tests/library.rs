//! The stores, the feed and the nodes of a cluster inside one process, against plain models of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[macro_use]
#[path = "promises/ensure.rs"]
mod ensure;

/// The locks of the double.
use parking_lot as sync;
#[allow(dead_code, reason = "its faults are for tests/shuttle")]
mod double;
mod model;

mod cluster;
mod comparison;
mod layers;
mod promises;
mod store;
mod store_mirror;
