//! The hand-over between changes, workers and readers under a scheduler that tries many
//! interleavings: the real backlog, feed, fan-out and settle, compiled here with shuttle's locks,
//! over the double of the store. `TIDELINE_TEST_SEED` chooses other schedules, `TIDELINE_TEST_CASES` how
//! many there are. A failure prints the wrong read, and the schedule for `shuttle::replay`.
//!
//! Most scenarios also run with steps in a wrong order, and must detect it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[macro_use]
#[path = "promises/ensure.rs"]
mod ensure;

/// The module that the sources below name `crate::sync`.
#[path = "shuttle/sync.rs"]
mod sync;

// The modules that they name `crate::config`, `crate::error`, `crate::failpoint`, `crate::model` and `crate::store`.
use tideline::{config, error, failpoint, model, store};

#[allow(dead_code)]
mod double;

#[path = "../src/backlog/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod backlog;
#[path = "../src/cache.rs"]
#[allow(dead_code, unreachable_pub)]
mod cache;
#[path = "../src/feed/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod feed;
#[path = "../src/streaming/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod streaming;
#[path = "../src/stripes.rs"]
#[allow(dead_code)]
mod stripes;

#[path = "shuttle/clock.rs"]
mod clock;
#[path = "shuttle/worker.rs"]
mod worker;

#[path = "promises"]
#[allow(dead_code)]
mod promises {
    pub(crate) mod bounds;
    pub(crate) mod history;
    pub(crate) mod names;
    pub(crate) mod seed;
    pub(crate) mod tell;
}
#[path = "shuttle/actors.rs"]
mod actors;
#[path = "shuttle/listening.rs"]
mod listening;
#[path = "shuttle/run.rs"]
mod run;
#[path = "shuttle/scenarios.rs"]
mod scenarios;
#[path = "shuttle/world.rs"]
mod world;

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = scenarios::all().into_iter().chain(listening::all()).collect();
    libtest_mimic::run(&arguments, trials).exit();
}
