//! Online users.

use super::listener::Listener;
use crate::server::tokens::{SECRET, token};
use crate::server::{PATIENCE, Server, wait_until};

const ONLINE: &str = "tideline_users_online";

fn set(server: &Server, user: u64, online: bool) -> serde_json::Value {
    server.call("PUT", &format!("/v1/users/{user}/presence"), format!(r#"{{"online":{online}}}"#)).expect(200)
}

#[test]
fn a_client_that_closes_its_end_is_gone_at_once() {
    // Comments are too rare to detect the end in this time.
    let server =
        Server::with(&[("TIDELINE__PRESENCE__HEARTBEAT", "10m"), ("TIDELINE__SERVER__MAX_STREAMS_PER_USER", "1")]);
    for _ in 0..50 {
        let mut listener = Listener::open(&server, 1, None);
        // A connection closed with unread bytes would end in another way.
        assert!(listener.block(PATIENCE).is_some(), "{}", listener.head);
        assert_eq!(server.figure(ONLINE), 1.0);
        drop(listener);
        wait_until("a stream that does not end", || server.figure(ONLINE) <= 0.0);
    }
}

#[test]
fn presence_counts_as_activity() {
    let server = Server::with(&[("TIDELINE__FANOUT__PUSH_THRESHOLD", "0"), ("TIDELINE__FANOUT__CHUNK", "1")]);
    for user in 1..=4 {
        server.follow(user, 9, 10);
    }
    set(&server, 1, true);
    let listener = Listener::open(&server, 2, None);
    server.settle();
    server.publish(1, 9, 1000);
    server.settle();
    let in_inbox = |user: u64| {
        server.get(&format!("/v1/admin/users/{user}/timeline/explain?content_id=1"))["paths"][0]["in_inbox"] == true
    };
    assert_eq!([1, 2, 3, 4].map(in_inbox), [true, true, false, false]);
    drop(listener);
}

#[test]
fn a_peek_leaves_its_user_as_dormant_as_before() {
    let server = Server::with(&[("TIDELINE__FANOUT__PUSH_THRESHOLD", "0"), ("TIDELINE__FANOUT__CHUNK", "1")]);
    for user in 1..=3 {
        server.follow(user, 9, 10);
    }
    for item in 1..=3 {
        server.publish(item, 9, 1000 + item);
    }
    server.settle();
    let page = server.call("GET", "/v1/users/1/timeline?limit=2&peek=true", "");
    assert_eq!(page.expect(200)["items"].as_array().unwrap().len(), 2);
    assert!(page.header("link").unwrap().contains("peek=true"), "{:?}", page.header("link"));
    assert_eq!(server.ids("/v1/users/2/timeline?peek=false"), [3, 2, 1]);
    server.settle();
    server.publish(4, 9, 2000);
    server.settle();
    let in_inbox = |user: u64| {
        server.get(&format!("/v1/admin/users/{user}/timeline/explain?content_id=4"))["paths"][0]["in_inbox"] == true
    };
    assert_eq!([1, 2, 3].map(in_inbox), [false, true, false]);
    assert_eq!(server.ids("/v1/users/1/timeline?peek=true"), [4, 3, 2, 1], "a peek is exact");
    assert_eq!(server.get("/v1/users/1/presence")["online"], false);
    for other in ["content?peek=true", "comments?peek=true", "timeline/unread?peek=true", "timeline?peek=1"] {
        server.call("GET", &format!("/v1/users/1/{other}"), "").problem(other, 400, "invalid_parameter");
    }
}

#[test]
fn a_user_cannot_peek() {
    let server = Server::with(&[("TIDELINE__AUTH__JWT_SECRETS", SECRET)]);
    let token = token("1");
    let read = |path: &str| server.call_as("GET", path, "", &[("authorization", &format!("Bearer {token}"))]);
    read("/v1/users/1/timeline?peek=false").expect(200);
    read("/v1/users/1/timeline?peek=true").problem("a token", 403, "not_permitted");
}
