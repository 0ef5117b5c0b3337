//! Receivers of changes: every node knows how far each of them is.

use feed::events::{self, ChangePosition, ChangesAfter};
use feed::{Feed, PublishItems};
use serde_json::json;

use super::nodes::{Nodes, meet};
use crate::promises::names::Ids;
use crate::promises::seed::seed;
use crate::promises::shape::small;

/// Publishes an item, and returns the position behind it.
fn publish(nodes: &Nodes, id: u64) -> ChangePosition {
    let new_item =
        json!({"author_id": "1", "content_id": id.to_string(), "kind": "post", "topics": [], "broadcast": true});
    let feed = &nodes.case.system.feed;
    feed.submit(PublishItems::all(vec![serde_json::from_value(new_item).expect("a new_item")])).expect("publishes");
    events::changes(feed.read(), ChangesAfter::Oldest, 100, &[]).expect("reads").end
}

/// Where a receiver goes on that would begin with the newest change if it were new.
fn goes_on(feed: &Feed) -> ChangePosition {
    let start = events::begin_receiver(feed, "push", ChangesAfter::Newest).expect("begins");
    assert!(!start.is_new && start.missed.is_none(), "{start:?}");
    start.at
}

#[test]
fn a_receiver_goes_on_at_a_node_that_is_restored_from_another_one() {
    let mut nodes = Nodes::steady(seed(), &small(), Ids::Numbers);
    nodes.go_to(0);
    let sent = publish(&nodes, 11);
    events::keep_receiver(&nodes.case.system.feed, "push", sent).expect("keeps");
    let later = publish(&nodes, 12);
    assert!(later.number() > sent.number());
    meet(&nodes).expect("meet");
    nodes.replace();
    assert_eq!(goes_on(&nodes.case.system.feed), sent, "under another name");
    nodes.go_to(1);
    assert_eq!(goes_on(&nodes.case.system.feed), sent, "at another node");
    events::keep_receiver(&nodes.case.system.feed, "push", later).expect("keeps");
    meet(&nodes).expect("meet");
    nodes.go_to(2);
    assert_eq!(goes_on(&nodes.case.system.feed), later, "the last that was kept");
    events::keep_receiver(&nodes.case.system.feed, "push", sent).expect("keeps");
    meet(&nodes).expect("meet");
    nodes.go_to(1);
    assert_eq!(goes_on(&nodes.case.system.feed), later, "each node has its own");
}
