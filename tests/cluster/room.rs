//! A node without room for the jobs of other nodes' changes.

use std::thread;
use std::time::Duration;

use super::nodes::{Nodes, read_index};
use crate::promises::names::{Ids, USERS};
use crate::promises::ops::{Op, Post};
use crate::promises::seed::seed;
use crate::promises::shape::small;

const AUTHOR: u64 = 1;
const ITEMS: u64 = 12;

fn publish(nodes: &mut Nodes, id: u64) {
    nodes.case.apply(&Op::Publish(vec![Post::plain(AUTHOR, id)])).expect("publishes");
}

/// Nodes on which all follow one author. The inboxes of node 1 have an item; it has room for few jobs, and no workers.
fn nodes() -> Nodes {
    let mut nodes = Nodes::new(seed(), &small(), Ids::Numbers, true);
    nodes.plan.pushes = true;
    nodes.narrow(1);
    nodes.go_to(0);
    for user in USERS.into_iter().filter(|user| *user != AUTHOR) {
        let follow = vec![(AUTHOR, None)];
        nodes.case.apply(&Op::Relate { user, follow, unfollow: vec![] }).expect("follows");
    }
    publish(&mut nodes, 1);
    nodes.go_to(1);
    read_index(&nodes.case.system).expect("catches up");
    // Reads make readers active.
    nodes.case.read_all().expect("right");
    nodes.case.apply(&Op::Drain(false)).expect("drains");
    nodes
}

#[test]
fn items_without_room_are_pulled_and_hold_nothing_up() {
    let mut nodes = nodes();
    nodes.go_to(0);
    (2..=ITEMS).for_each(|id| publish(&mut nodes, id));
    nodes.case.apply(&Op::Delete(0)).expect("deletes");
    nodes.case.apply(&Op::Restore(0)).expect("restores");
    nodes.go_to(1);
    read_index(&nodes.case.system).expect("goes on without room");
    let usage = nodes.case.system.backlog().usage();
    assert!(usage.left_out > ITEMS / 2 && usage.waiting.fan_out > 0, "{usage:?}");
    nodes.case.read_all().expect("the items are pulled");
    nodes.reopen();
    nodes.case.read_all().expect("after a restart, too");
    nodes.case.apply(&Op::Drain(true)).expect("drains");
    nodes.case.read_all().expect("and after the jobs");
    nodes.case.apply(&Op::Reopen).expect("opens");
    assert_eq!(nodes.left_out(), usage.left_out, "with workers, and few changes, there is room");
}

#[test]
fn a_follow_waits_for_room_and_then_goes_on() {
    let mut nodes = nodes();
    nodes.go_to(0);
    // More than there is room for.
    (2..=ITEMS).for_each(|id| publish(&mut nodes, id));
    let unfollow = vec![AUTHOR];
    nodes.case.apply(&Op::Relate { user: 2, follow: vec![], unfollow }).expect("unfollows");
    let end = nodes.log().end();
    nodes.go_to(1);
    thread::sleep(Duration::from_millis(50));
    assert!(nodes.case.system.node().position() < end, "a settle job has room");
    nodes.case.system.start();
    read_index(&nodes.case.system).expect("catches up");
    nodes.case.read_all().expect("right");
}

#[test]
fn a_node_that_waits_for_room_can_be_stopped() {
    let mut nodes = nodes();
    nodes.go_to(0);
    (2..=ITEMS).for_each(|id| publish(&mut nodes, id));
    let unfollow = vec![AUTHOR];
    nodes.case.apply(&Op::Relate { user: 2, follow: vec![], unfollow }).expect("unfollows");
    nodes.go_to(1);
    nodes.reopen();
    read_index(&nodes.case.system).expect("catches up");
    nodes.case.read_all().expect("the unfollow was not passed over");
}
