//! Markers and unread counts at their limits. Their contract is in tests/contract/records.rs.

use serde_json::{Value, json};

use crate::server::Server;

const MARKER: &str = "/v1/users/1/marker";
const UNREAD: &str = "/v1/users/1/timeline/unread";

fn mark(server: &Server, cursor: &str) -> Value {
    server.call("PUT", MARKER, json!({ "cursor": cursor }).to_string()).expect(200)
}

#[test]
fn unread_items_are_counted_up_to_a_thousand_below_the_inbox_limit_too() {
    let server = Server::with(&[("TIDELINE__TIMELINE__INBOX_LIMIT", "10")]);
    server.follow(1, 2, 1);
    let item = |id: u64| json!({"author_id": 2, "content_id": id, "published_at": id});
    let items: Vec<_> = (1..=1000).map(item).collect();
    server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
    assert_eq!(server.get(UNREAD), json!({"count": 1000, "capped": false}));
    server.call("POST", "/v1/content", item(1001).to_string()).expect(201);
    assert_eq!(server.get(UNREAD), json!({"count": 1000, "capped": true}));
    server.settle();
    assert_eq!(server.get(UNREAD), json!({"count": 1000, "capped": true}));
    for (read_to, count) in [("1-1", 1000), ("2-1", 1000), ("2-2", 999), ("900-1", 102), ("1001-1001", 0)] {
        mark(&server, read_to);
        assert_eq!(server.get(UNREAD), json!({"count": count, "capped": false}), "{read_to}");
    }
}

#[test]
fn a_count_is_a_sign_of_life() {
    let server = Server::start();
    server.follow(1, 2, 1);
    server.settle();
    server.get(UNREAD);
    server.settle();
    assert!((server.figure(r#"tideline_jobs_done_total{kind="rebuild"}"#) - 1.0).abs() < 0.5);
    server.follow(3, 2, 1);
    server.get("/v1/users/3/marker");
    server.call("PUT", "/v1/users/3/marker", r#"{"cursor":"1-1"}"#).expect(200);
    server.settle();
    assert!((server.figure(r#"tideline_jobs_done_total{kind="rebuild"}"#) - 1.0).abs() < 0.5, "only that");
}
