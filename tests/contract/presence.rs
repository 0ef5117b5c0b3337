//! `GET`, `PUT /v1/users/{uid}/presence`

use serde_json::json;

use super::listener::Listener;
use super::town::Town;
use crate::server::wait_until;

const ONLINE: &str = "tideline_users_online";

#[test]
fn presence_is_said_again_and_again_and_changes_nothing_that_is_seen() {
    let town = Town::new();
    let say = |online: bool| {
        let body = json!({ "online": online }).to_string();
        town.server.call("PUT", "/v1/users/1/presence", body).expect(200)
    };
    let mut expiry = 1_600_000_000_000;
    for _ in 0..2 {
        let state = say(true);
        let expires = state["expires_at"].as_u64().unwrap();
        assert!(expires >= expiry, "a heartbeat lives on: {state}");
        assert_eq!(state, json!({"user_id": "1", "online": true, "expires_at": expires}));
        assert_eq!(town.server.get("/v1/users/1/presence"), state, "asked for, it is as it was answered");
        assert_eq!(town.server.figure(ONLINE), 1.0);
        expiry = expires;
    }
    town.check("online");
    for _ in 0..2 {
        assert_eq!(say(false), json!({"user_id": "1", "online": false}));
        assert_eq!(town.server.get("/v1/users/1/presence"), json!({"user_id": "1", "online": false}));
        assert_eq!(town.server.figure(ONLINE), 0.0);
    }
    town.check("offline");
}

#[test]
fn a_heartbeat_lives_as_long_as_it_is_told_to() {
    let town = Town::empty(&[("TIDELINE__PRESENCE__TTL", "1s")]);
    town.server.call("PUT", "/v1/users/1/presence", r#"{"online":true}"#).expect(200);
    let listener = Listener::open(&town.server, 2, None);
    wait_until("a heartbeat that does not run out", || town.server.figure(ONLINE) == 1.0);
    assert_eq!(town.server.get("/v1/users/1/presence"), json!({"user_id": "1", "online": false}), "it ran out");
    let listening = json!({"user_id": "2", "online": true});
    assert_eq!(town.server.get("/v1/users/2/presence"), listening);
    let state = town.server.call("PUT", "/v1/users/2/presence", r#"{"online":false}"#).expect(200);
    assert_eq!(state, listening, "with an open stream a user is online without a word");
    assert_eq!(town.server.get("/v1/users/2/presence"), listening);
    drop(listener);
}

#[test]
fn asking_is_no_heartbeat() {
    let town = Town::new();
    for user in [1, 9_000_000_000_u64] {
        let path = format!("/v1/users/{user}/presence");
        let offline = json!({"user_id": user.to_string(), "online": false});
        assert_eq!([town.server.get(&path), town.server.get(&path)], [offline.clone(), offline]);
        let head = town.server.call("HEAD", &path, "");
        assert_eq!((head.status, head.bytes.len()), (200, 0));
    }
    assert_eq!(town.server.figure(ONLINE), 0.0);
    town.server.call("GET", "/v1/users/1/presence?online=true", "").problem("a query", 400, "invalid_parameter");
    town.server.call("GET", "/v1/users/%00/presence", "").problem("an id", 400, "invalid_id");
    town.check("asking changes nothing");
}
