//! Erasures on three nodes: one of them looks for the rows, another one if the owner of the user is away, and all nodes
//! remove the same.

use std::ops::ControlFlow;
use std::sync::Arc;

use feed::{DeleteItem, Eraser, Feed, MoveNoticeMarker, PublishItems, SetRestriction, Visibility, erasure, follows};
use kv::Tier;
use model::{ErasurePlace, ExternalId, NamedRule, NoticeCursor, Order, Restriction, Span, UserId};
use serde_json::{Value, json};

use super::nodes::{NODES, Nodes, meet};
use crate::promises::names::Ids;
use crate::promises::replay::same_tables;
use crate::promises::seed::seed;
use crate::promises::shape::small;
use crate::wait::until;

fn id(text: &str) -> ExternalId {
    text.parse().expect("an id")
}

fn publish(feed: &Feed, new_item: Value) {
    feed.submit(PublishItems::all(vec![serde_json::from_value(new_item).expect("a new_item")])).expect("publishes");
}

/// Something of a user, from the nodes in turn; `first` is the first of 50 ids of items.
fn fill(nodes: &mut Nodes, user: &str, first: u64) {
    let new_item = |n: u64, author: &str, to: &[&str]| {
        json!({"author_id": author, "content_id": (first + n).to_string(), "kind": "post", "text": "t", "topics": ["sea"],
            "broadcast": !n.is_multiple_of(3), "to": to, "mentions": [if author == user { "31" } else { user }]})
    };
    for n in 0..40 {
        nodes.go_to(n as usize % NODES);
        let feed = &nodes.case.system.feed;
        match n % 4 {
            0 => publish(feed, new_item(n, "20", &[user])),
            _ => publish(feed, new_item(n, user, if n % 4 == 1 { &["20"] } else { &[] })),
        }
        if n % 5 == 0 {
            feed.submit(DeleteItem { item: id(&(first + n).to_string()), purge: false }).expect("deletes");
        }
        let other = (30 + n).to_string();
        follows::follow(feed, id(&other), id(user), None, NamedRule::default(), false).expect("follows");
        follows::follow(feed, id(&other), id("20"), None, NamedRule::default(), false).expect("follows");
        if n % 2 == 0 {
            feed.submit(SetRestriction {
                user: id(&other),
                target: id(user),
                restriction: Restriction::Mute,
                raised: true,
            })
            .expect("mutes");
        }
        let place = format!("{}-1-0-{}-{user}-", 5 + first, user.len()).parse().expect("a place");
        feed.submit(MoveNoticeMarker { user: id(&other), place, visibility: Visibility::Application }).expect("moves");
    }
    let comment = json!({"author_id": user, "content_id": (first + 40).to_string(), "kind": "comment",
        "ref_id": first + 4, "topics": [], "broadcast": false});
    publish(&nodes.case.system.feed, comment);
    // Of the user, one of them also on the path of another; and what the user has commented on.
    for n in [1, 2, 4] {
        nodes.go_to(n as usize % NODES);
        nodes.case.system.feed.submit(DeleteItem { item: id(&(first + n).to_string()), purge: true }).expect("purges");
    }
}

pub(crate) fn run() {
    let mut nodes = Nodes::steady(seed(), &small(), Ids::Mixed);
    nodes.log().calm();
    for node in 0..NODES {
        nodes.go_to(node);
        nodes.case.system.drain().expect("drains");
    }
    let users = ["7", "ana"];
    for (user, first) in users.into_iter().zip([1000, 2000]) {
        fill(&mut nodes, user, first);
    }
    meet(&nodes).expect("meet");
    let numbers: Vec<UserId> =
        users.iter().map(|user| nodes.case.system.feed.read().find(&id(user)).expect("finds")).collect();
    // The owner of the first user erases nothing, as if it were away.
    let others = nodes.systems().filter(|system| !system.feed.keeps_inbox_of(numbers[0]));
    let erasers: Vec<_> = others.map(|system| Eraser::start(Arc::clone(&system.feed)).expect("starts")).collect();
    assert_eq!(erasers.len(), NODES - 1);
    for (node, user) in users.iter().enumerate() {
        nodes.go_to(node);
        assert!(erasure::erase(&nodes.case.system.feed, id(user)).expect("erases").is_some());
    }
    for node in 0..NODES {
        nodes.go_to(node);
        nodes.case.system.start();
    }
    let is_over = || !nodes.systems().any(|system| feed::erasure::tables::has_erasures(system.store()));
    until("the users are not erased", is_over).expect("erased");
    drop(erasers);
    meet(&nodes).expect("meet");
    for node in 0..NODES {
        nodes.go_to(node);
        nodes.case.system.drain().expect("drains");
    }
    same_tables(nodes.systems(), 0).expect("nodes agree");
    for system in nodes.systems() {
        let store = system.store();
        assert_eq!(feed::erasure::tables::erased(store).expect("reads").len(), 2);
        for user in &numbers {
            assert_eq!(
                feed::erasure::tables::to_erase(store, *user, &mut ErasurePlace::default(), 100).expect("reads"),
                None
            );
        }
        // Entries that came through user 20 are gone, too.
        for reader in (30..70).chain([20]) {
            let reader = system.feed.read().find(&id(&reader.to_string())).expect("finds");
            let notices =
                feed::notices::tables::notices(store, reader, Span::ALL.newest(1000), Tier::Disk).expect("reads");
            assert!(notices.iter().all(|notice| !numbers.contains(&notice.place.id.actor)), "{notices:?}");
            let marker = feed::notices::tables::notice_marker(store, reader, Tier::Disk)
                .expect("reads")
                .and_then(NoticeCursor::actor);
            assert!(marker.is_none_or(|actor| !numbers.contains(&actor)), "the marker of {reader}");
            feed::inbox::tables::inbox(store, reader, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |entry| {
                assert!(!numbers.contains(&entry.author), "{entry:?} of {reader}");
                ControlFlow::Continue(())
            })
            .expect("reads");
        }
    }
}
