use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::inbox::backlog::Backlog;
use crate::streaming::Streaming;
use crate::{Feed, items, reactions};
use config::Config;
use store::Store;

fn feed() -> Feed {
    let (store, backlog) = (Arc::new(Store::in_memory().expect("opens")), Arc::new(Backlog::new(100)));
    let feed = Feed::new(store, backlog, Arc::new(Streaming::new(1000)), &Config::default()).expect("opens");
    let draft = serde_json::from_str(r#"{"author_id":9,"content_id":1,"published_at":5}"#).expect("a draft");
    items::publish_one(&feed, draft).expect("publishes");
    feed
}

fn reaction(item: u64, user: u64, kind: &str, active: bool) -> React {
    let user = HostId::Number(user);
    let since = active.then_some(7);
    React::one(
        HostId::Number(item),
        Wish { user, kind: kind.to_owned(), active, since, sight: Visibility::Application },
    )
}

/// Makes reactions that all wait before the first of them is made.
fn together(feed: &Feed, reactions: &[React]) -> Vec<Result<Reacted>> {
    let still = feed.streaming.hold_changes();
    let ask = |reaction: &React| -> Receiver<Result<Reacted>> {
        let (tell, told) = channel();
        reactions::ask(feed, reaction.clone(), Box::new(move |result| tell.send(result).expect("heard")))
            .expect("room");
        told
    };
    let told: Vec<_> = reactions.iter().map(ask).collect();
    drop(still);
    told.into_iter().map(|told| told.recv().expect("told")).collect()
}

/// Kinds and users of all changes.
fn changes(feed: &Feed) -> Vec<String> {
    let (rows, kinds) = (feed.store.logged(0, 1000).expect("reads"), feed.store.kind_names().expect("reads"));
    rows.into_iter().filter_map(|row| row.told(&kinds)).map(|changed| format!("{:?}", changed.effect)).collect()
}

#[test]
fn each_reaction_of_a_group_has_the_result_and_the_change_that_it_has_alone() {
    let reactions: Vec<_> = [
        (1, 1, "like", true),
        (1, 2, "like", true),
        (1, 3, "none", true),
        (1, 2, "favorite", true),
        (1, 1, "like", false),
        (1, 1, "like", true),
        (1, 4, "like", false),
        (2, 4, "like", true),
        (1, 4, "like", true),
        (1, 4, "like", true),
        (1, 2, "like", false),
    ]
    .into_iter()
    .chain((10..200).map(|user| (1, user, "like", true)))
    .map(|(item, user, kind, active)| reaction(item, user, kind, active))
    .collect();
    let (one, other) = (feed(), feed());
    let alone: Vec<_> =
        reactions.iter().map(|reaction| together(&one, std::slice::from_ref(reaction)).remove(0)).collect();
    let groups = other.changes_usage().groups;
    assert_eq!(format!("{alone:?}"), format!("{:?}", together(&other, &reactions)));
    assert!(other.changes_usage().groups - groups < 20, "{:?}", other.changes_usage());
    assert_eq!(other.changes_usage().waiting.used, 0);
    assert_eq!(changes(&one), changes(&other));
    assert_eq!(changes(&one).len(), 1 + 7 + 190);
}
