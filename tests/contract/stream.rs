//! `GET /v1/users/{uid}/stream`

use serde_json::json;

use super::sse::Stream;
use super::town::Town;

#[test]
fn a_stream_tells_what_happens_in_the_timeline_and_nothing_else() {
    let mut town = Town::new();
    let mut stream = Stream::open(&town.server, 1, None);
    let quiet = |town: &mut Town, id: u64, author: u64, broadcast: bool| {
        town.publish(json!({"content_id": id, "author_id": author, "broadcast": broadcast}));
    };
    quiet(&mut town, 40, 5, true);
    quiet(&mut town, 41, 2, false);
    town.publish(json!({"content_id": 42, "author_id": 2, "published_at": 200, "text": "now"}));
    let event = stream.expect("content", 42);
    assert_eq!(event.id.as_deref(), Some("200-42"));
    assert_eq!(event.data["text"], "now");
    town.edit(42, json!({"text": "then"}));
    assert_eq!(stream.expect("edit", 42).data["text"], "then");
    town.edit(40, json!({"text": "of a stranger"}));
    town.delete(40);
    town.delete(42);
    stream.expect("delete", 42);
    town.mute(1, 2);
    quiet(&mut town, 43, 2, true);
    town.unmute(1, 2);
    town.hide(2, 1);
    quiet(&mut town, 44, 2, true);
    town.unhide(2, 1);
    town.unfollow(1, 3);
    quiet(&mut town, 45, 3, true);
    town.follow(1, 5, 500);
    quiet(&mut town, 46, 5, true);
    stream.expect("content", 46);
    town.check("a stream changes nothing");
}

#[test]
fn a_stream_goes_on_where_it_was_cut() {
    let mut town = Town::new();
    let mut stream = Stream::open(&town.server, 1, None);
    town.publish(json!({"content_id": 40, "author_id": 2, "published_at": 200}));
    let last = stream.expect("content", 40).id.unwrap();
    drop(stream);
    for id in 41..50 {
        town.publish(json!({"content_id": id, "author_id": 2 + id % 3, "published_at": 160 + id}));
    }
    town.delete(45);
    let mut stream = Stream::open(&town.server, 1, Some(&last));
    let missed: Vec<u64> = (41..50).filter(|id| 160 + id > 200 && *id != 45).collect();
    for id in missed {
        assert_eq!(stream.expect("content", id).id, Some(format!("{}-{id}", 160 + id)));
    }
    town.publish(json!({"content_id": 60, "author_id": 2, "published_at": 300}));
    stream.expect("content", 60);
}

#[test]
fn who_missed_too_much_is_told_to_begin_anew() {
    let town = Town::empty(&[]);
    town.server.follow(1, 2, 1);
    for first in [1_u64, 1001] {
        let items: Vec<_> =
            (first..first + 1000).map(|n| json!({"author_id": 2, "content_id": n, "published_at": n})).collect();
        town.server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
    }
    let mut stream = Stream::open(&town.server, 1, Some("999-999"));
    assert_eq!(stream.next().event, "reset");
    town.server.publish(5000, 2, 5000);
    stream.expect("content", 5000);
    let mut stream = Stream::open(&town.server, 1, Some("1000-1000"));
    // 1001 items, with the one published since.
    assert_eq!(stream.next().event, "reset");
    let mut stream = Stream::open(&town.server, 1, Some("1001-1001"));
    for id in (1002..=2000).chain([5000]) {
        stream.expect("content", id);
    }
}

#[test]
fn what_is_no_cursor_is_no_last_event() {
    let town = Town::empty(&[]);
    for bad in ["1", "x-1", "1-0", "-"] {
        let reply = town.server.call_as("GET", "/v1/users/1/stream", "", &[("last-event-id", bad)]);
        assert_eq!(reply.status, 400, "{bad}: {reply:?}");
        assert_eq!(reply.header("content-type"), Some("application/problem+json"));
    }
}
