//! Rules of a cluster that are broken on purpose. The machine that finds nothing wrong with the rules must find this.

use std::time::{Duration, Instant};

use tideline::model::Millis;
use tideline::streaming::At;

use super::run::{machine, run_one};
use super::wrong::{Wrong, follow};
use crate::promises::replay::seen;
use crate::promises::seed::seed;
use crate::promises::shape::{Kind, small};
use crate::promises::system::System;

/// Longest time until a fault is found, unless there was only time for a few sequences.
const PATIENCE: Duration = Duration::from_secs(60);
const FEW: u32 = 40;

#[track_caller]
fn is_found(wrong: Wrong) {
    let began = Instant::now();
    let mut sequences = 0;
    for seed in seed().. {
        sequences += 1;
        if let Err(why) = run_one(seed, Some(wrong)) {
            let seconds = began.elapsed().as_secs_f64();
            let line = why.lines().next().unwrap_or_default();
            eprintln!("{wrong:?} is found after {seconds:.1} s in sequence {sequences}: {line}");
            return;
        }
        assert!(began.elapsed() < PATIENCE || sequences < FEW, "{wrong:?} is not found in {sequences} sequences");
    }
}

#[test]
fn a_barrier_that_serves_a_later_read_is_found() {
    is_found(Wrong::BarrierReused);
}

#[test]
fn the_end_of_the_log_as_a_barrier_is_found() {
    is_found(Wrong::EndAsBarrier);
}

#[test]
fn a_change_that_is_answered_before_it_is_applied_is_found() {
    is_found(Wrong::AnsweredEarly);
}

#[test]
fn a_mark_outside_of_the_changes_is_found() {
    is_found(Wrong::MarkOutside);
}

#[test]
fn a_record_that_is_noted_after_its_changes_is_found() {
    is_found(Wrong::NotedLate);
}

#[test]
fn a_record_that_is_made_twice_is_found() {
    is_found(Wrong::NoDuplicates);
}

#[test]
fn a_change_of_members_that_leaves_inboxes_is_found() {
    is_found(Wrong::NoEviction);
}

/// A further server that applies the log of a machine by its times has the state of the nodes. One that takes the time
/// of its clock has another.
#[test]
fn a_clock_in_place_of_the_times_of_the_log_is_found() {
    let machine = machine(seed(), None).expect("no difference");
    let records = machine.nodes.log().records();
    let of_nodes = machine.nodes.systems().next().map(|system| seen(&system.feed, machine.ids, 9));
    let of_another = |at: fn(Millis) -> At| {
        let mut config = small();
        config.adopt(&machine.nodes.plan.agreed);
        let system = System::new(Kind::Rocks, config);
        follow(&records, &system.feed, at);
        Some(seen(&system.feed, machine.ids, 9))
    };
    assert_eq!(of_another(At::Log), of_nodes);
    assert_ne!(of_another(|_| At::Clock), of_nodes);
}
