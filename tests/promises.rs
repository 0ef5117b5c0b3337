//! The promises S2 to S5: every answer of the feed equals the plain function of follow graph and content that
//! `promises::model` computes, whatever happens behind it.
//!
//! The sequences are the same in each run, the threads are not. `TIDELINE_TEST_SEED` chooses other
//! sequences (a number, or `random`), `TIDELINE_TEST_CASES` how many there are on RocksDB (the rest
//! scales with it), `TIDELINE_TEST_OPS` how many operations to try on each store instead (`make prove`).
//! Hosts give numbers, names, or both as ids; `TIDELINE_TEST_IDS` chooses `numbers`, `names` or `mixed` alone.
//! `TIDELINE_TEST_MINUTES` lets the threads go on for so long (`make soak`), `TIDELINE_TEST_THREADS`
//! says how many there are. A failure prints its seed and the shortest sequence found that still fails,
//! or the few calls around a wrong read.

pub(crate) mod actor;
pub(crate) mod bounds;
pub(crate) mod broken;
pub(crate) mod case;
pub(crate) mod change;
pub(crate) mod crash;
pub(crate) mod faulty;
pub(crate) mod fresh;
pub(crate) mod history;
pub(crate) mod hosts;
mod ids;
pub(crate) mod kept;
pub(crate) mod lists;
pub(crate) mod mirror;
pub(crate) mod names;
pub(crate) mod notices;
pub(crate) mod ops;
pub(crate) mod polls;
pub(crate) mod prove;
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
pub(crate) mod verify;

use self::prove::run_sequences;
use self::shape::Kind;

#[test]
fn every_page_is_the_function_on_memory() {
    run_sequences(Kind::Memory, 4);
}

#[test]
fn every_page_is_the_function_on_rocks() {
    run_sequences(Kind::Rocks, 1);
}

#[test]
fn reads_at_the_same_time_see_what_was_acknowledged() {
    threads::run_lives();
}

#[test]
fn a_batch_of_follows_is_seen_whole_or_not_at_all() {
    swap::run_rounds();
}

#[test]
fn reads_show_all_acknowledged_changes() {
    fresh::run();
}

#[test]
fn a_verification_finds_what_is_wrong_and_nothing_else() {
    verify::run();
}

#[test]
fn equal_commands_at_equal_times_lead_to_equal_states() {
    replay::run();
}
