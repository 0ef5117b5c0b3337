//! A node whose storage refuses a group makes it again, with the times, ids and numbers that the other nodes gave.

use std::sync::atomic::Ordering;

use super::nodes::{NODES, Nodes, meet};
use crate::promises::faulty::REFUSED;
use crate::promises::names::{Ids, USERS};
use crate::promises::ops::{Op, Post};
use crate::promises::replay::same_tables;
use crate::promises::seed::seed;
use crate::promises::shape::small;

/// An item with the id and the time of the server.
fn item(author: u64, text: u8) -> Op {
    Op::Publish(vec![Post { id: None, at: None, text, ..Post::plain(author, 1) }])
}

#[test]
fn a_group_that_a_node_could_not_write_is_made_again_as_on_the_others() {
    let mut nodes = Nodes::refused(seed(), &small(), Ids::Mixed);
    nodes.log().calm();
    nodes.go_to(0);
    for (n, user) in USERS.into_iter().enumerate() {
        let follow = USERS.into_iter().filter(|other| *other != user).map(|other| (other, None)).collect();
        nodes.case.apply(&Op::Relate { user, follow, unfollow: vec![] }).expect("follows");
        (0..4).for_each(|text| nodes.case.apply(&item(user, n as u8 + text)).expect("publishes"));
        nodes.case.apply(&Op::Delete(0)).expect("deletes");
        nodes.case.apply(&Op::Restore(0)).expect("restores");
    }
    meet(&nodes).expect("meet");
    assert_ne!(REFUSED.load(Ordering::Relaxed), 0, "no write was refused");
    for node in 0..NODES {
        nodes.go_to(node);
        nodes.case.read_all().expect("right");
        nodes.case.apply(&Op::Drain(false)).expect("drains");
    }
    same_tables(nodes.systems(), 0).expect("nodes agree");
}
