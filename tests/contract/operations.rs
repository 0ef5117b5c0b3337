//! Operations: `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/v1/admin/…`

use std::collections::BTreeSet;

use serde_json::json;

use super::calls::CALLS;
use super::town::Town;
use crate::server::Server;

#[test]
fn every_call_that_is_described_is_walked_with_bad_input() {
    let server = Server::start();
    let document = server.get("/openapi.json");
    let mut described = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "patch", "delete"] {
            if item.get(method).is_some() {
                described.insert((method.to_uppercase(), path.clone()));
            }
        }
    }
    // The paths of the page's files and `/` are described together with the page.
    let walked = CALLS.iter().filter(|call| call.path != "/" && !call.path.starts_with("/docs/"));
    let walked: BTreeSet<_> = walked.map(|call| (call.method.to_owned(), call.path.to_owned())).collect();
    let missing: Vec<_> = described.symmetric_difference(&walked).collect();
    assert!(missing.is_empty(), "tests/contract/calls.rs and the OpenAPI document differ in {missing:?}");
}

#[test]
fn what_is_asked_of_operators_changes_nothing() {
    let town = Town::new();
    for path in ["/healthz", "/readyz", "/metrics", "/v1/admin/stats", "/openapi.json", "/docs"] {
        for _ in 0..2 {
            let reply = town.server.call("GET", path, "");
            assert_eq!(reply.status, 200, "{path}");
            assert!(!reply.bytes.is_empty(), "{path}");
        }
    }
    town.check("looked at");
}

#[test]
fn explain_says_why_an_item_is_not_there() {
    let mut town = Town::new();
    let listed = |town: &Town, user: u64, id: u64| {
        let found = town.server.get(&format!("/v1/admin/users/{user}/timeline/explain?content_id={id}"));
        assert_eq!((&found["user_id"], &found["content_id"]), (&json!(user.to_string()), &json!(id.to_string())));
        (found["listed"] == true, found["reason"].as_str().unwrap().to_owned())
    };
    for user in 1..=6 {
        let there = town.model.timeline(user);
        for id in [10, 11, 12, 13, 20, 21, 30, 99] {
            assert_eq!(listed(&town, user, id).0, there.contains(&id), "{id} for {user}");
        }
    }
    town.delete(12);
    town.mute(1, 3);
    for (user, id, reason) in [
        (1, 10, "listed"),
        (1, 11, "muted"),
        (1, 12, "deleted"),
        (1, 20, "not_broadcast"),
        (1, 99, "no_content"),
        (2, 11, "not_following"),
        (6, 30, "hidden"),
        (6, 10, "muted"),
    ] {
        assert_eq!(listed(&town, user, id), (reason == "listed", reason.to_owned()), "{id} for {user}");
    }
}
