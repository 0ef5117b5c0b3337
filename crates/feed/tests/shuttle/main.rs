//! The hand-over between changes, workers and readers under a scheduler that tries many
//! interleavings: the real backlog, feed and workers, with shuttle's locks (the feature `shuttle`),
//! over the double of the store. `TIDELINE_TEST_SEED` chooses other schedules, `TIDELINE_TEST_CASES` how
//! many there are. A failure prints the wrong read, and the schedule for `shuttle::replay`.
//!
//! Most scenarios also run with steps in a wrong order, and must detect it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

extern crate tideline_feed as feed;

#[macro_use]
#[path = "../../../../tests/promises/ensure.rs"]
mod ensure;

#[path = "../../../../tests/promises"]
#[allow(dead_code)]
mod promises {
    pub(crate) mod bounds;
    pub(crate) mod history;
    pub(crate) mod names;
    pub(crate) mod seed;
    pub(crate) mod tell;
}
mod actors;
mod listening;
mod run;
mod scenarios;
mod worker;
mod world;

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = scenarios::all().into_iter().chain(listening::all()).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
