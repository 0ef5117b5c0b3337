//! Streams under load, against the real server on loopback.
//!
//! `make streams` (`cargo bench --bench streams -- [STREAMS] [PUBLISHES A SECOND] [SECONDS] [CUTS]`) first opens many
//! streams and publishes at a steady rate. Every listener must get every item of its authors once, in cursor order,
//! except those that a `reset` leaves out. Then it cuts streams at random instants while others publish, edit and
//! backdate. A reader that resumes must miss no item and get none twice. The bench and the server need as many open
//! files as streams each. Both raise their limit as far as the system allows (`ulimit -Hn`).

#![allow(clippy::expect_used, clippy::panic, missing_docs)]

#[path = "streams/client.rs"]
mod client;
#[path = "streams/cuts.rs"]
mod cuts;
#[path = "streams/load.rs"]
mod load;
#[path = "../tests/server/mod.rs"]
mod server;

fn main() {
    // Cargo adds `--bench`.
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let number = |place: usize, usual: u64| numbers.get(place).copied().unwrap_or(usual);
    let (streams, rate, seconds, cuts) = (number(0, 2000), number(1, 200), number(2, 60), number(3, 100));
    raise_limit_of_files();
    if seconds > 0 {
        load::run(streams, rate, seconds);
    }
    if cuts > 0 {
        cuts::run(cuts);
    }
}

/// Each stream is an open file here, and one in the server.
fn raise_limit_of_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised).expect("the limit of open files can be raised");
}
