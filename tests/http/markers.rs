//! How far a user has read, and how much is new since.

use serde_json::{Value, json};

use crate::server::Server;

const MARKER: &str = "/v1/users/1/marker";
const UNREAD: &str = "/v1/users/1/timeline/unread";

fn mark(server: &Server, cursor: &str) -> Value {
    server.call("PUT", MARKER, json!({ "cursor": cursor }).to_string()).expect(200)
}

fn unread(server: &Server) -> u64 {
    let unread = server.get(UNREAD);
    assert_eq!(unread["capped"], false, "{unread}");
    assert_eq!(unread.as_object().unwrap().len(), 2);
    unread["count"].as_u64().unwrap()
}

#[test]
fn a_marker_moves_forward_and_what_is_newer_is_unread() {
    let server = Server::start();
    server.follow(1, 2, 1);
    for id in 1..=5 {
        server.publish(id, 2, 100);
    }
    server.publish(6, 3, 200);
    assert_eq!(server.get(MARKER), json!({"cursor": null}));
    assert_eq!(unread(&server), 5, "all, without a marker");
    assert_eq!(mark(&server, "100-3"), json!({"cursor": "100-3"}));
    assert_eq!(unread(&server), 2);
    assert_eq!(mark(&server, "100-2"), json!({"cursor": "100-3"}), "not back");
    assert_eq!((server.get(MARKER), unread(&server)), (json!({"cursor": "100-3"}), 2));
    // Whatever changes the timeline changes the count.
    server.follow(1, 3, 1);
    assert_eq!(unread(&server), 3);
    server.call("DELETE", "/v1/content/5", "");
    assert_eq!(unread(&server), 2);
    server.publish(7, 2, 50);
    assert_eq!(unread(&server), 2, "published at an older time");
    server.call("DELETE", "/v1/users/1/following/2", "").expect(200);
    assert_eq!(unread(&server), 1);
    assert_eq!(mark(&server, "1600000000000-9223372036854775807")["cursor"], server.get(MARKER)["cursor"]);
    assert_eq!(unread(&server), 0);
    assert_eq!(server.get("/v1/users/2/marker"), json!({"cursor": null}), "another user's");
}

#[test]
fn it_is_counted_up_to_a_thousand_below_the_inbox_limit_too() {
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

#[test]
fn a_marker_is_there_after_a_restart() {
    let server = Server::start();
    mark(&server, "7-7");
    assert_eq!(server.restart("KILL", &[]).get(MARKER), json!({"cursor": "7-7"}));
}
