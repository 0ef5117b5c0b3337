//! The stores, the feed and the nodes of a cluster inside one process, against plain models of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[macro_use]
#[path = "promises/ensure.rs"]
mod ensure;
mod cluster;
mod docs_tables;
mod layers;
mod plain;
mod promises;
mod purges;
mod store;
mod wait;
