//! Rules of a cluster that are broken on purpose. The machine that finds nothing wrong with the rules must find this.

use std::collections::BTreeSet;
use std::time::Instant;

use feed::streaming::ChangeTime;
use model::Millis;

use super::nodes::Nodes;
use super::run::{machine, run_one};
use super::wrong::{Wrong, follow};
use crate::plain::user;
use crate::promises::names::{Ids, USERS};
use crate::promises::ops::{Op, Post};
use crate::promises::replay::seen;
use crate::promises::seed::seed;
use crate::promises::shape::{Kind, small};
use crate::promises::system::System;

/// Most sequences until a fault is found. No bound of time: on a busy machine few sequences would be tried.
const MOST: u32 = 1000;

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
        assert!(sequences < MOST, "{wrong:?} is not found in {sequences} sequences");
    }
}

/// Makes a test of each fault.
macro_rules! are_found {
    ($($name:ident: $wrong:expr;)+) => { $(#[test] fn $name() { is_found($wrong); })+ };
}

are_found! {
    a_read_index_that_serves_a_later_read_is_found: Wrong::ReadIndexReused;
    the_end_of_the_log_as_a_read_index_is_found: Wrong::EndAsReadIndex;
    a_change_that_is_answered_before_it_is_applied_is_found: Wrong::AnsweredEarly;
    a_mark_outside_of_the_changes_is_found: Wrong::MarkOutside;
    a_record_that_is_noted_after_its_changes_is_found: Wrong::NotedLate;
    a_record_that_is_made_twice_is_found: Wrong::NoDuplicates;
    the_clock_of_one_broker_that_dates_all_later_items_is_found: Wrong::LeaderClock;
    a_change_that_is_made_after_its_caller_has_gone_is_found: Wrong::NoDeadline;
    a_node_that_runs_twice_is_found: Wrong::NoRuns;
}

/// A node loses a reader to other members, who then get an item, and gets the reader back. Whether its page is right.
fn page_of_a_reader_that_comes_back(evicts: bool) -> Result<(), String> {
    const AUTHOR: u64 = 1;
    let mut nodes = Nodes::new(seed(), &small(), Ids::Numbers, evicts);
    nodes.plan.pushes = true;
    nodes.go_to(0);
    let start = |nodes: &mut Nodes, absent| {
        nodes.plan.absent = absent;
        nodes.reopen();
        nodes.case.system.start();
    };
    let owned = |nodes: &Nodes| {
        let feed = &nodes.case.system.feed;
        USERS.into_iter().filter(|raw| *raw != AUTHOR && feed.keeps_inbox_of(user(*raw))).collect::<BTreeSet<_>>()
    };
    start(&mut nodes, 6);
    let few = owned(&nodes);
    start(&mut nodes, 0);
    let reader = owned(&nodes).difference(&few).next().copied().ok_or("no reader goes and comes back")?;
    let publish = |nodes: &mut Nodes, id| nodes.case.apply(&Op::Publish(vec![Post::plain(AUTHOR, id)]));
    nodes.case.apply(&Op::Relate { user: reader, follow: vec![(AUTHOR, None)], unfollow: vec![] })?;
    // A read makes the reader active.
    nodes.case.apply(&Op::Scroll(reader, 5))?;
    nodes.case.apply(&Op::Drain(true))?;
    publish(&mut nodes, 1)?;
    nodes.case.apply(&Op::Drain(true))?;
    start(&mut nodes, 6);
    publish(&mut nodes, 2)?;
    nodes.case.system.drain()?;
    start(&mut nodes, 0);
    nodes.case.system.drain()?;
    nodes.case.apply(&Op::Scroll(reader, 5))
}

#[test]
fn a_change_of_members_that_leaves_inboxes_is_found() {
    page_of_a_reader_that_comes_back(true).expect("the inbox was dropped");
    let wrong = page_of_a_reader_that_comes_back(false).expect_err("the inbox lacks an item");
    assert!(wrong.contains("timeline of"), "{wrong}");
}

/// A further server that applies the log of a machine by its times has the state of the nodes. One that takes the time
/// of its clock has another.
#[test]
fn a_clock_in_place_of_the_times_of_the_log_is_found() {
    let machine = machine(seed(), None).expect("no difference");
    let (log, records) = (machine.nodes.case.system.node().log_id(), machine.nodes.log().records());
    let of_nodes = machine.nodes.systems().next().map(|system| seen(&system.feed, machine.ids, 9));
    let of_another = |at: fn(Millis) -> ChangeTime| {
        let mut config = small();
        config.adopt(&machine.nodes.plan.agreed);
        let system = System::new(Kind::Rocks, config);
        follow(&log, &records, &system.feed, at);
        Some(seen(&system.feed, machine.ids, 9))
    };
    assert_eq!(of_another(ChangeTime::Log), of_nodes);
    assert_ne!(of_another(|_| ChangeTime::Clock), of_nodes);
}
