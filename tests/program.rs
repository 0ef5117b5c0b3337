//! The built program, as its users meet it: over sockets, by its commands, and through faults of its machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, missing_docs)]

mod backup;
mod bench;
mod check;
mod cli;
mod command;
mod contract;
mod crash_points;
mod damage;
mod frozen_device;
mod full_disk;
mod http;
mod import;
mod overload;
mod plain;
mod process;
mod server;
mod standby;
mod tls;
mod wal_tails;
