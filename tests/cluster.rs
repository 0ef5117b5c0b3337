//! A cluster without brokers: three nodes on a log in memory that does all that a log may do. Appends are delayed,
//! refused, lost, answered without an offset, made twice, and made long after they were given up; reads are late, short,
//! or fail; the end of the log is a lie; times jump back. Nodes crash, restart with other members, and are replaced.
//! Every answer must be the plain function of what was acknowledged before, on every node.
//!
//! Each rule that this depends on is also broken on purpose, which the same machine must notice (`broken`).
//!
//! `TIDELINE_TEST_SEED`, `TIDELINE_TEST_CASES` and `TIDELINE_TEST_OPS` (`make prove-cluster`) as in `promises`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[macro_use]
#[path = "promises/ensure.rs"]
mod ensure;

/// The locks of the double.
use parking_lot as sync;
#[allow(dead_code)]
mod double;

mod model;
#[path = "promises"]
#[allow(dead_code)]
mod promises {
    pub(crate) mod actor;
    pub(crate) mod bounds;
    pub(crate) mod case;
    pub(crate) mod change;
    pub(crate) mod crash;
    pub(crate) mod history;
    pub(crate) mod hosts;
    pub(crate) mod names;
    pub(crate) mod ops;
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
#[path = "cluster"]
mod cluster {
    mod agree;
    mod broken;
    mod cut;
    pub(crate) mod log;
    pub(crate) mod machine;
    pub(crate) mod nodes;
    mod room;
    pub(crate) mod run;
    pub(crate) mod threads;
    pub(crate) mod wrong;
}

#[test]
fn every_page_of_every_node_is_the_function() {
    cluster::run::run();
}

#[test]
fn reads_at_the_same_time_on_any_node_see_what_was_acknowledged() {
    cluster::threads::run_lives();
}
