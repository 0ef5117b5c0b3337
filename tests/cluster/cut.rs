//! Logs that no node may follow: each node stops with a message, what it shows stays as it was, and its place in the log
//! stays where it can go on.

use std::thread;
use std::time::Duration;

use config::Refusal;
use serde_json::{Value, json};

use super::nodes::{Nodes, fault, reach, read_index, wait};
use crate::promises::names::Ids;
use crate::promises::ops::{Op, Post};
use crate::promises::replay::seen;
use crate::promises::seed::seed;
use crate::promises::shape::small;
use crate::promises::system::System;
use crate::wait::{PATIENCE, until, until_some};

fn nodes() -> Nodes {
    let mut nodes = Nodes::new(seed(), &small(), Ids::Numbers, true);
    (1..4).for_each(|id| publish(&mut nodes, 0, id));
    // The two records with which each node begins are in the log then.
    (0..2).for_each(|_| nodes.systems().for_each(|system| read_index(system).expect("catches up")));
    nodes
}

fn publish(nodes: &mut Nodes, node: usize, id: u64) {
    nodes.go_to(node);
    let post = Post { at: Some(1), ..Post::plain(1, id) };
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
    until_some("a node does not stop", || fault(system)).expect("stops")
}

/// All nodes stop at a record, for this reason. What they show and their places stay.
fn all_stop(alter: impl Fn(&Nodes) -> Vec<u8>, message: &str) -> (Nodes, String) {
    let mut nodes = nodes();
    let before: Vec<_> = nodes.systems().map(|system| seen(&system.feed, Ids::Numbers, 9)).collect();
    let at = nodes.log().end();
    nodes.log().put(alter(&nodes));
    for (system, before) in nodes.systems().zip(before) {
        let why = stopped(system);
        assert!(why.contains(message) && why.contains(&format!("offset {at}")), "{why}");
        assert_eq!(system.node().position(), at);
        assert!(wait(system.node().read_index()).is_err() && wait(system.node().reach(at)).is_err());
        assert_eq!(seen(&system.feed, Ids::Numbers, 9), before, "local reads go on");
    }
    // The record is not passed over: blind, the node starts where it was.
    nodes.log().blind(0, Duration::from_millis(300));
    nodes.go_to(0);
    nodes.reopen();
    let why = stopped(&nodes.case.system);
    assert!(why.contains(message) && why.contains(&format!("offset {at}")), "{why}");
    assert_eq!(nodes.case.system.node().position(), at);
    (nodes, why)
}

#[test]
fn a_record_of_a_later_version_stops_a_node() {
    all_stop(|nodes| altered(nodes, |record| record["level"] = 9.into()), "Update this node");
    all_stop(|nodes| altered(nodes, |record| record["level"] = 1.into()), "an earlier version of Tideline wrote");
}

/// Anybody who reaches the brokers may have written them.
fn strangers(nodes: &Nodes) -> Vec<Vec<u8>> {
    let of_another = |record: &mut Value| record["log"] = "0123456789abcdef".into();
    let first = nodes.log().records().into_iter().next().expect("a beginning");
    let mut second: Value = serde_json::from_slice(&first.bytes).expect("a record");
    of_another(&mut second);
    let later = |record: &mut Value| {
        of_another(record);
        record["level"] = 9.into();
    };
    vec![
        Vec::new(),
        b"hello".to_vec(),
        b"{}".to_vec(),
        br#"{"level":9}"#.to_vec(),
        vec![0; 1 << 20],
        altered(nodes, of_another),
        altered(nodes, later),
        altered(nodes, |record| record["commands"] = "none".into()),
        // As after two programs have begun the log at once.
        serde_json::to_vec(&second).expect("writes"),
    ]
}

#[test]
fn all_nodes_pass_over_what_is_no_record_of_their_log() {
    let mut nodes = nodes();
    let strangers = strangers(&nodes);
    let count = strangers.len() as u64;
    for (bytes, id) in strangers.into_iter().zip(21..) {
        nodes.log().put(bytes);
        publish(&mut nodes, 1, id);
    }
    for node in 0..3 {
        nodes.go_to(node);
        read_index(&nodes.case.system).expect("goes on");
        nodes.case.read_all().expect("right");
        assert_eq!(nodes.case.system.node().status().passed_over, count);
        nodes.reopen();
        read_index(&nodes.case.system).expect("starts again");
    }
    nodes.replace_with(None);
    read_index(&nodes.case.system).expect("an empty node passes over the same");
    nodes.case.read_all().expect("right");
}

#[test]
fn a_topic_that_is_made_anew_stops_its_nodes_at_the_first_record_of_another_log() {
    let (nodes, mut other) = (nodes(), nodes());
    let end = nodes.log().end();
    (11..30).for_each(|id| publish(&mut other, 0, id));
    assert!(other.log().end() > end + 5);
    nodes.log().make_anew(other.log().records());
    for system in nodes.systems() {
        let why = stopped(system);
        assert!(why.contains("made anew"), "{why}");
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

#[test]
fn all_nodes_go_on_without_a_command_that_their_settings_refuse() {
    // The others in its record have been made before, and change nothing.
    let dance = |record: &mut Value| {
        let publish = record["commands"][0].clone();
        record["commands"] = json!([publish, {"dance": {}}, publish]);
    };
    let (mut nodes, why) = all_stop(|nodes| altered(nodes, dance), "cannot be applied");
    let (_, refusal) = why.trim_end_matches("\")").rsplit_once("(\"").expect("the message tells how to go on");
    let refusal: Refusal = serde_json::from_value(refusal.into()).expect("a refusal");
    assert_eq!(refusal.command, 2);
    let start = |nodes: &mut Nodes, refusal| {
        nodes.plan.refuse = vec![refusal];
        (0..3).for_each(|node| {
            nodes.go_to(node);
            nodes.reopen();
        });
    };
    start(&mut nodes, Refusal { hash: refusal.hash ^ 1, ..refusal });
    nodes.systems().for_each(|system| assert!(stopped(system).contains("cannot be applied"), "of another log"));
    start(&mut nodes, refusal);
    publish(&mut nodes, 1, 21);
    // The record may come twice, and later.
    let record = nodes.log().records().into_iter().find(|record| record.offset == refusal.offset).expect("there");
    nodes.log().put(record.bytes);
    publish(&mut nodes, 2, 22);
    nodes.go_to(0);
    nodes.replace_with(None);
    for node in 0..3 {
        nodes.go_to(node);
        read_index(&nodes.case.system).expect("goes on");
        nodes.case.read_all().expect("right");
    }
}

/// A node has applied a record that the log then loses. The others do not know of it.
fn ahead_of_the_others(tells: bool) -> Nodes {
    let mut nodes = nodes();
    let end = nodes.log().end();
    [0, 2].into_iter().for_each(|node| nodes.log().blind(node, PATIENCE));
    let lost = altered(&nodes, |record| record["commands"] = json!([{"delete_item": {"item": 1}}]));
    nodes.log().put(lost);
    nodes.go_to(1);
    wait_for_position(&nodes.case.system, end + 1);
    nodes.log().cut(end, &[1], tells);
    nodes
}

fn wait_for_position(system: &System, position: u64) {
    until("the node does not see the record", || system.node().position() >= position).expect("sees it");
}

/// Node 1 stops, and no other one, not even an empty one that follows the whole log.
fn only_that_one_stops(mut nodes: Nodes, message: &str) {
    nodes.go_to(1);
    let why = stopped(&nodes.case.system);
    assert!(why.contains(message), "{why}");
    assert!(wait(nodes.case.system.node().read_index()).is_err(), "it must answer no strict read");
    nodes.log().heal(1);
    nodes.replace_with(None);
    for node in 0..3 {
        nodes.go_to(node);
        read_index(&nodes.case.system).expect("goes on");
        nodes.case.read_all().expect("the lost record was made nowhere else");
    }
}

#[test]
fn a_node_that_is_ahead_of_a_log_that_was_cut_stops() {
    let mut nodes = ahead_of_the_others(true);
    nodes.log().calm();
    publish(&mut nodes, 0, 11);
    only_that_one_stops(nodes, "is not there");
}

#[test]
fn a_node_that_does_not_hear_of_the_cut_stops_at_the_hash_of_another_node() {
    let mut nodes = ahead_of_the_others(false);
    nodes.log().calm();
    // The second one has the hash of the log with the first one.
    publish(&mut nodes, 0, 11);
    nodes.go_to(2);
    read_index(&nodes.case.system).expect("catches up");
    publish(&mut nodes, 2, 12);
    only_that_one_stops(nodes, "cut or made anew");
}

#[test]
fn a_node_stops_at_the_hash_of_others_who_write_nothing_by_themselves() {
    let mut nodes = ahead_of_the_others(false);
    nodes.log().calm();
    publish(&mut nodes, 0, 11);
    nodes.go_to(1);
    goes_on_writing(&nodes);
    only_that_one_stops(nodes, "cut or made anew");
}

/// The brokers lose a record, and its writer sends it again.
#[test]
fn a_record_that_comes_again_with_another_time_is_another_one() {
    let mut nodes = nodes();
    let end = nodes.log().end();
    [0, 2].into_iter().for_each(|node| nodes.log().blind(node, PATIENCE));
    let lost = altered(&nodes, |record| record["commands"] = json!([{"delete_item": {"item": 999}}]));
    nodes.log().put(lost.clone());
    nodes.go_to(1);
    wait_for_position(&nodes.case.system, end + 1);
    let time = |nodes: &Nodes| nodes.log().records().last().map(|record| record.time);
    let before = time(&nodes);
    while time(&nodes) == before {
        nodes.log().cut(end, &[1], false);
        nodes.log().put(lost.clone());
    }
    nodes.log().calm();
    publish(&mut nodes, 0, 11);
    // The second one has the hash of the log with the first one.
    nodes.go_to(2);
    read_index(&nodes.case.system).expect("catches up");
    publish(&mut nodes, 2, 12);
    only_that_one_stops(nodes, "cut or made anew");
}

/// Sends a record of the present node, as any strict read does.
fn goes_on_writing(nodes: &Nodes) {
    let (node, log) = (nodes.case.system.node(), nodes.log());
    let end = log.end();
    thread::scope(|scope| {
        scope.spawn(|| drop(wait(node.read_index())));
        until("the node sends nothing", || log.end() > end).expect("sends");
    });
}

#[test]
fn a_node_that_goes_on_writing_at_once_after_a_cut_stops_alone() {
    let mut nodes = ahead_of_the_others(false);
    nodes.go_to(1);
    goes_on_writing(&nodes);
    nodes.log().calm();
    publish(&mut nodes, 0, 11);
    publish(&mut nodes, 2, 12);
    only_that_one_stops(nodes, "cut or made anew");
}

#[test]
fn a_node_that_goes_on_writing_later_after_a_cut_stops_alone() {
    let mut nodes = ahead_of_the_others(false);
    nodes.log().calm();
    nodes.log().blind(1, PATIENCE);
    for (id, node) in [(11, 0), (12, 2), (13, 0), (14, 2)] {
        publish(&mut nodes, node, id);
    }
    nodes.go_to(1);
    // With the hash of a log that the others know otherwise.
    goes_on_writing(&nodes);
    publish(&mut nodes, 0, 15);
    publish(&mut nodes, 2, 16);
    nodes.log().calm();
    only_that_one_stops(nodes, "cut or made anew");
}

/// The node reads on after the cut, with records that do not tell what their writer has seen, and starts again.
#[test]
fn a_node_still_knows_after_a_restart_that_it_has_seen_another_log() {
    let mut nodes = nodes();
    let end = nodes.log().end();
    let quiet = |nodes: &Nodes, session: &str| {
        altered(nodes, |record| {
            record["session"] = session.into();
            record.as_object_mut().expect("an object").remove("seen");
        })
    };
    nodes.go_to(1);
    [0, 2].into_iter().for_each(|node| nodes.log().blind(node, PATIENCE));
    let lost = altered(&nodes, |record| record["commands"] = json!([{"delete_item": {"item": 1}}]));
    nodes.log().put(lost);
    wait_for_position(&nodes.case.system, end + 1);
    nodes.log().cut(end, &[1], false);
    nodes.log().put(quiet(&nodes, "00000000000000ab"));
    nodes.log().put(quiet(&nodes, "00000000000000ac"));
    wait_for_position(&nodes.case.system, end + 2);
    nodes.reopen();
    nodes.log().calm();
    nodes.go_to(0);
    reach(&nodes.case.system, end + 2).expect("comes there");
    publish(&mut nodes, 0, 11);
    publish(&mut nodes, 2, 12);
    only_that_one_stops(nodes, "cut or made anew");
}
