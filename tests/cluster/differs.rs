//! Nodes that tell each other the digests of their tables.

use std::sync::Arc;

use cluster::{Compared, Comparison};
use feed::PutProfiles;
use feed::check::TableDigest;
use feed::streaming::ChangeTime;
use model::{ExternalId, Profile};

use super::nodes::{NODES, Nodes, meet, read_index};
use crate::promises::names::Ids;
use crate::promises::ops::{Op, Post};
use crate::promises::replay::made;
use crate::promises::seed::seed;
use crate::promises::shape::small;
use crate::promises::system::System;
use crate::wait::until_some;

/// The position of a comparison, and the digests of a node at it.
fn digests(system: &System, id: u64) -> Option<(u64, Arc<[TableDigest]>)> {
    match system.node().comparison(id)? {
        Comparison { position, state: Compared::Done(digests) } => Some((position, digests)),
        Comparison { state: Compared::Failed(why), .. } => panic!("{why}"),
        _ => None,
    }
}

/// Compares all nodes, and returns the tables in which each of the others differs from the first, and how many nodes each
/// node finds to differ from itself. Publishes a new item meanwhile.
fn compared(nodes: &mut Nodes, new: u64) -> (Vec<Vec<&'static str>>, Vec<usize>) {
    nodes.go_to(0);
    let id = nodes.case.system.node().compare().expect("asks");
    nodes.case.apply(&Op::Publish(vec![Post::plain(1, new)])).expect("publishes");
    let of = |system: &System| until_some("no digests", || digests(system, id)).expect("digests");
    let all: Vec<_> = nodes.systems().map(of).collect();
    let differing = |at: usize| {
        assert_eq!(all[at].0, all[0].0, "at one position");
        let pairs = all[at].1.iter().zip(all[0].1.iter());
        pairs.filter(|(a, b)| a != b).map(|(a, _)| a.table).collect()
    };
    let differing = (1..NODES).map(differing).collect();
    assert!(nodes.case.system.node().comparison(id ^ 1).is_none());
    // Each node tells its digests before they can be asked for, so the next records have them.
    nodes.systems().for_each(|system| read_index(system).expect("catches up"));
    meet(nodes).expect("meets");
    let known = |number| {
        nodes.go_to(number);
        nodes.case.system.node().status().differing
    };
    (differing, (0..NODES).map(known).collect())
}

#[test]
fn nodes_find_out_by_themselves_that_one_of_them_differs() {
    let mut nodes = Nodes::new(seed(), &small(), Ids::Numbers, true);
    nodes.go_to(0);
    nodes.case.apply(&Op::Relate { user: 2, follow: vec![(1, None)], unfollow: vec![] }).expect("follows");
    meet(&nodes).expect("meets");
    assert_eq!(compared(&mut nodes, 2), (vec![vec![], vec![]], vec![0, 0, 0]));
    // As if this node gave a command another meaning.
    nodes.go_to(1);
    let profile = Profile { nickname: Some("x".to_owned()), avatar: None, extra: None };
    let command = PutProfiles { profiles: vec![(ExternalId::Number(1), profile)] }.into();
    let feed = &nodes.case.system.feed;
    let time = nodes.case.system.node().status().time;
    made(feed, command, ChangeTime::Log(time)).expect("applies");
    let tables = vec!["profiles", "nicknames", "events"];
    assert_eq!(compared(&mut nodes, 3), (vec![tables, vec![]], vec![1, 2, 1]));
    nodes.go_to(1);
    nodes.replace();
    assert_eq!(compared(&mut nodes, 4), (vec![vec![], vec![]], vec![0, 0, 0]));
}
