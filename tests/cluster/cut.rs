//! Logs that no node may follow: each node stops with a message, what it shows stays as it was, and its place in the log
//! stays where it can go on.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::nodes::{Nodes, barrier, fault, reach, wait};
use crate::promises::names::Ids;
use crate::promises::ops::{Op, Post};
use crate::promises::replay::seen;
use crate::promises::seed::seed;
use crate::promises::shape::small;
use crate::promises::system::System;

/// Longer than any of these tests.
const LONG: Duration = Duration::from_secs(60);

fn nodes() -> Nodes {
    let mut nodes = Nodes::new(seed(), &small(), Ids::Numbers, true);
    (1..4).for_each(|id| publish(&mut nodes, 0, id));
    // The two records with which each node begins are in the log then.
    (0..2).for_each(|_| nodes.systems().for_each(|system| barrier(system).expect("catches up")));
    nodes
}

fn publish(nodes: &mut Nodes, node: usize, id: u64) {
    nodes.go_to(node);
    let (at, kind) = (Some(1), "post");
    let post = Post { author: 1, id: Some(id), at, text: 1, extra: 0, broadcast: true, topics: 0, kind, subject: None };
    nodes.case.apply(&Op::Publish(vec![post])).expect("publishes");
}

/// The last record with a publish, as another one.
fn altered(nodes: &Nodes, alter: impl Fn(&mut Value)) -> Vec<u8> {
    let records = nodes.log().records();
    let publish = records.iter().rev().find(|record| !record.bytes.ends_with(br#""commands":[]}"#)).expect("there");
    let mut record: Value = serde_json::from_slice(&publish.bytes).expect("a record");
    record["session"] = "00000000000000aa".into();
    alter(&mut record);
    serde_json::to_vec(&record).expect("writes")
}

/// Waits until a node has stopped itself, and returns why.
fn stopped(system: &System) -> String {
    let began = Instant::now();
    loop {
        if let Some(why) = fault(system) {
            return why;
        }
        assert!(began.elapsed() < LONG, "a node does not stop");
        thread::sleep(Duration::from_millis(1));
    }
}

/// All nodes stop at a record, for this reason. What they show and their places stay.
fn all_stop(alter: impl Fn(&Nodes) -> Vec<u8>, message: &str) {
    let mut nodes = nodes();
    let before: Vec<_> = nodes.systems().map(|system| seen(&system.feed, Ids::Numbers, 9)).collect();
    let at = nodes.log().end();
    nodes.log().put(alter(&nodes));
    for (system, before) in nodes.systems().zip(before) {
        let why = stopped(system);
        assert!(why.contains(message) && why.contains(&format!("offset {at}")), "{why}");
        assert_eq!(system.node().position(), at);
        assert!(wait(system.node().barrier()).is_err() && wait(system.node().reach(at)).is_err());
        assert_eq!(seen(&system.feed, Ids::Numbers, 9), before, "local reads go on");
    }
    // The record is not passed over: blind, the node starts where it was.
    nodes.log().blind(0, Duration::from_millis(300));
    nodes.go_to(0);
    nodes.reopen();
    let why = stopped(&nodes.case.system);
    assert!(why.contains(message) && why.contains(&format!("offset {at}")), "{why}");
    assert_eq!(nodes.case.system.node().position(), at);
}

#[test]
fn a_record_of_another_program_stops_a_node() {
    all_stop(|_| b"hello".to_vec(), "is not one of Tideline");
}

#[test]
fn a_record_of_another_cluster_stops_a_node() {
    all_stop(
        |nodes| altered(nodes, |record| record["log"] = "0123456789abcdef".into()),
        "belongs to the log 0123456789abcdef",
    );
}

#[test]
fn a_record_of_a_later_version_stops_a_node() {
    all_stop(|nodes| altered(nodes, |record| record["level"] = 9.into()), "Update this node");
}

/// As after two programs have begun the log at once.
#[test]
fn a_second_beginning_of_the_log_is_passed_over() {
    let mut nodes = nodes();
    let first = nodes.log().records().into_iter().next().expect("a beginning");
    let mut second: Value = serde_json::from_slice(&first.bytes).expect("a record");
    second["log"] = "0123456789abcdef".into();
    nodes.log().put(serde_json::to_vec(&second).expect("writes"));
    publish(&mut nodes, 1, 21);
    for node in 0..3 {
        nodes.go_to(node);
        barrier(&nodes.case.system).expect("goes on");
        nodes.case.read_all().expect("right");
        nodes.reopen();
        barrier(&nodes.case.system).expect("starts again");
    }
}

/// A position of another log, or one that somebody made up.
#[test]
fn a_read_that_asks_for_a_position_that_never_comes_has_all_changes() {
    let mut nodes = nodes();
    publish(&mut nodes, 1, 21);
    nodes.go_to(2);
    reach(&nodes.case.system, u64::MAX >> 1).expect("does not wait for it");
    nodes.case.read_all().expect("right");
}

#[test]
fn a_command_of_no_known_kind_stops_a_node() {
    all_stop(|nodes| altered(nodes, |record| record["commands"] = json!([{"dance": {}}])), "cannot be applied");
}

/// A node has applied a record that the log then loses. The others go on without it.
fn loses_what_a_node_has_applied(tells: bool, message: &str) {
    let mut nodes = nodes();
    let end = nodes.log().end();
    [0, 2].into_iter().for_each(|node| nodes.log().blind(node, LONG));
    let lost = altered(&nodes, |record| record["commands"] = json!([{"delete": {"item": 1}}]));
    nodes.log().put(lost);
    nodes.go_to(1);
    let began = Instant::now();
    while nodes.case.system.node().position() <= end {
        assert!(began.elapsed() < LONG, "the node does not see the record");
        thread::sleep(Duration::from_millis(1));
    }
    nodes.log().cut(end, &[1], tells);
    nodes.log().calm();
    // The second one has the hash of the log with the first one.
    publish(&mut nodes, 0, 11);
    nodes.go_to(2);
    barrier(&nodes.case.system).expect("catches up");
    publish(&mut nodes, 2, 12);
    nodes.go_to(1);
    let why = stopped(&nodes.case.system);
    assert!(why.contains(message), "{why}");
    assert!(wait(nodes.case.system.node().barrier()).is_err(), "it must answer no strict read");
    for node in [0, 2] {
        nodes.go_to(node);
        barrier(&nodes.case.system).expect("goes on");
        nodes.case.read_all().expect("the lost record was made nowhere else");
    }
}

#[test]
fn a_node_that_is_ahead_of_a_log_that_was_cut_stops() {
    loses_what_a_node_has_applied(true, "is not there");
}

#[test]
fn a_node_that_does_not_hear_of_the_cut_stops_at_the_hash_of_another_node() {
    loses_what_a_node_has_applied(false, "have applied different records");
}
