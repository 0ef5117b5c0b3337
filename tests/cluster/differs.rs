//! Nodes that tell each other the digests of their tables.

use std::time::{Duration, Instant};

use cluster::Compared;
use feed::PutProfiles;
use feed::streaming::ChangeTime;
use model::{HostId, Profile};

use super::nodes::{NODES, Nodes, meet, read_index};
use crate::promises::names::Ids;
use crate::promises::ops::Op;
use crate::promises::replay::made;
use crate::promises::seed::seed;
use crate::promises::shape::small;

/// Longer than any of these tests.
const LONG: Duration = Duration::from_secs(60);

/// Compares all nodes, and returns how many each node finds to differ from itself.
fn compared(nodes: &mut Nodes) -> Vec<usize> {
    nodes.go_to(0);
    let id = nodes.case.system.node().compare().expect("asks");
    let began = Instant::now();
    let is_done = |nodes: &Nodes| {
        let state = |system: &crate::promises::system::System| system.node().comparison(id).map(|of| of.state);
        nodes.systems().all(|system| matches!(state(system), Some(Compared::Done(_))))
    };
    while !is_done(nodes) {
        assert!(began.elapsed() < LONG, "no digests");
        std::thread::sleep(Duration::from_millis(1));
    }
    // Each node tells its digests before they can be asked for, so the next records have them.
    nodes.systems().for_each(|system| read_index(system).expect("catches up"));
    meet(nodes).expect("meets");
    (0..NODES)
        .map(|number| {
            nodes.go_to(number);
            nodes.case.system.node().status().differing
        })
        .collect()
}

#[test]
fn nodes_find_out_by_themselves_that_one_of_them_differs() {
    let mut nodes = Nodes::new(seed(), &small(), Ids::Numbers, true);
    nodes.go_to(0);
    nodes.case.apply(&Op::Relate { user: 2, follow: vec![(1, None)], unfollow: vec![] }).expect("follows");
    meet(&nodes).expect("meets");
    assert_eq!(compared(&mut nodes), [0, 0, 0]);
    // As if this node gave a command another meaning.
    nodes.go_to(1);
    let profile = Profile { nickname: Some("x".to_owned()), avatar: None, extra: None };
    let command = PutProfiles { profiles: vec![(HostId::Number(1), profile)] }.into();
    let feed = &nodes.case.system.feed;
    let time = nodes.case.system.node().status().time;
    made(feed, command, ChangeTime::Log(time)).expect("applies");
    assert_eq!(compared(&mut nodes), [1, 2, 1]);
    nodes.go_to(1);
    nodes.replace();
    assert_eq!(compared(&mut nodes), [0, 0, 0]);
}
