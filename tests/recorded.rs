//! One recorded log of random commands, and followers of it: a plain fold, nodes over RocksDB and in memory with
//! settings, shards and upkeep of their own, restarts and crashes, and a row of processes that end at every failpoint that
//! a node passes. At the end of the log, and at places in it, the digests of all shared tables must be equal, and so must
//! all that readers see.
//!
//! `TIDELINE_TEST_COMMANDS` and `TIDELINE_TEST_SEED` (`make prove-log`) choose the log. Without the feature `failpoints`
//! the processes are only killed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[macro_use]
#[path = "promises/ensure.rs"]
mod ensure;
mod plain;
#[path = "promises"]
#[allow(dead_code)]
mod promises {
    pub(crate) mod actor;
    pub(crate) mod bounds;
    pub(crate) mod case;
    pub(crate) mod change;
    pub(crate) mod crash;
    pub(crate) mod faulty;
    pub(crate) mod history;
    pub(crate) mod hosts;
    pub(crate) mod kept;
    pub(crate) mod lines;
    pub(crate) mod lists;
    pub(crate) mod mirror;
    pub(crate) mod names;
    pub(crate) mod notices;
    pub(crate) mod ops;
    pub(crate) mod polls;
    pub(crate) mod react;
    pub(crate) mod read;
    pub(crate) mod relate;
    pub(crate) mod replay;
    pub(crate) mod seed;
    pub(crate) mod settled;
    pub(crate) mod shape;
    pub(crate) mod swap;
    pub(crate) mod system;
    pub(crate) mod tell;
    pub(crate) mod threads;
    pub(crate) mod told;
    pub(crate) mod upkeep;
}
#[path = "recorded"]
mod recorded {
    pub(crate) mod child;
    mod commands;
    mod crashes;
    mod fold;
    mod follower;
    pub(crate) mod frozen;
    mod maker;
    mod parts;
    pub(crate) mod run;
    mod tape;
    mod upkeep;
}

use libtest_mimic::{Arguments, Trial};

use recorded::{child, frozen, run};

/// A process of a follower is this program, too: so it has a main of its own.
fn main() -> std::process::ExitCode {
    if let Ok(orders) = std::env::var(child::ORDERS) {
        return child::run(&orders);
    }
    let trial = |name, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    let trials = vec![
        trial("all_followers_agree", run::run),
        trial("mistakes_are_seen", run::mistakes_are_seen),
        trial("every_level_has_its_digests", frozen::every_level_has_its_digests),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
