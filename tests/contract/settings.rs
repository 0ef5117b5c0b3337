//! No setting that only makes reads or writes faster changes an answer.

use serde_json::{Value, json};

use super::model::content_cursor;
use super::town::Town;
use super::walk::List;
use crate::server::Server;

/// Tiny inboxes and outboxes, each reach, readers dormant or evicted at once, and chunks of one follower.
const WAYS: [&[(&str, &str)]; 9] = [
    &[("TIDELINE__TIMELINE__INBOX_LIMIT", "1")],
    &[("TIDELINE__TIMELINE__INBOX_LIMIT", "3"), ("TIDELINE__TIMELINE__OUTBOX_LIMIT", "1")],
    &[("TIDELINE__FANOUT__PUSH_THRESHOLD", "0"), ("TIDELINE__FANOUT__PULL_THRESHOLD", "0")],
    &[("TIDELINE__FANOUT__PUSH_THRESHOLD", "0")],
    &[("TIDELINE__FANOUT__PUSH_THRESHOLD", "1"), ("TIDELINE__FANOUT__PULL_THRESHOLD", "2")],
    &[("TIDELINE__FANOUT__PUSH_THRESHOLD", "1"), ("TIDELINE__TIMELINE__ACTIVE_FOR", "1ms")],
    &[("TIDELINE__TIMELINE__EVICT_AFTER", "1ms")],
    &[("TIDELINE__FANOUT__CHUNK", "1"), ("TIDELINE__FANOUT__WORKERS", "1")],
    &[("TIDELINE__STORAGE__DURABILITY", "os"), ("TIDELINE__FANOUT__WORKERS", "3")],
];

#[test]
fn every_list_is_the_same_whatever_is_done_to_be_fast() {
    for way in WAYS {
        let mut town = Town::with(way);
        town.check(&format!("{way:?}"));
        town.follow(4, 2, 90);
        town.unfollow(5, 2);
        town.delete(12);
        town.mute(1, 3);
        town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 105, "topics": ["tea"]}));
        town.check(&format!("{way:?}, changed"));
        town.server.settle();
        town.check(&format!("{way:?}, settled"));
        town.restore(12);
        town.unmute(1, 3);
        town.hide(2, 3);
        town.check(&format!("{way:?}, changed back"));
    }
}

#[test]
fn a_walk_ends_at_the_first_item_ever_published() {
    for way in WAYS {
        let server = Server::with(way);
        for author in 2..=4 {
            server.follow(1, author, 5);
        }
        let post = |id: u64| json!({"content_id": id, "author_id": 2 + id % 3, "published_at": 1000 + id / 2});
        let items: Vec<Value> = (1..=30).map(post).collect();
        server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
        for state in ["at once", "settled"] {
            let short = |item: &Value| {
                json!({"content_id": item["content_id"].to_string(), "author_id": item["author_id"].to_string(),
                    "published_at": item["published_at"]})
            };
            let wanted: Vec<Value> = items.iter().rev().map(short).collect();
            let path = "/v1/users/1/timeline";
            assert_eq!(server.get(&format!("{path}?view=ids&limit=100"))["items"], json!(wanted), "{way:?} {state}");
            List { server: &server, path, items: &wanted, cursor: content_cursor }.walk("&view=ids");
            server.settle();
        }
    }
}
