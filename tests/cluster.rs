//! A cluster without brokers: three nodes on a log in memory that does all that a log may do. Appends are delayed,
//! refused, lost, answered without an offset, made twice, and made long after they were given up; reads are late, short,
//! or fail; the end of the log is a lie; times jump back, or a year ahead; what a node has sent lies in a socket until its
//! caller has gone. Others write to the topic, the log loses records that a node has applied, a node is slow. Nodes crash,
//! restart with other members, are replaced, and run twice.
//! Every answer must be the plain function of what was acknowledged before, on every node.
//!
//! Each rule that this depends on is also broken on purpose, which the same machine must notice (`broken`).
//!
//! `TIDELINE_TEST_SEED`, `TIDELINE_TEST_CASES` and `TIDELINE_TEST_OPS` (`make prove-cluster`) as in `promises`.

mod agree;
mod broken;
mod cut;
mod differs;
mod erase;
mod events;
pub(crate) mod log;
pub(crate) mod machine;
pub(crate) mod nodes;
mod receivers;
mod refused;
mod room;
pub(crate) mod run;
pub(crate) mod threads;
pub(crate) mod wrong;

#[test]
fn every_page_of_every_node_is_the_function() {
    run::run();
}

#[test]
fn an_erasure_takes_the_same_from_every_node() {
    erase::run();
}

#[test]
fn reads_at_the_same_time_on_any_node_see_what_was_acknowledged() {
    threads::run_lives();
}
