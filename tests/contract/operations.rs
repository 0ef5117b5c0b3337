//! Operations: `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/v1/admin/…`

use serde_json::json;

use super::town::Town;

#[test]
fn pages_for_operators_change_nothing() {
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
    town.block(4, 2);
    for (user, id, reason) in [
        (1, 10, "listed"),
        (1, 11, "muted"),
        (1, 12, "deleted"),
        (1, 20, "not_broadcast"),
        (1, 99, "no_content"),
        (2, 11, "not_following"),
        (6, 30, "hidden"),
        (6, 10, "muted"),
        (4, 10, "blocked"),
        (2, 30, "blocked"),
    ] {
        assert_eq!(listed(&town, user, id), (reason == "listed", reason.to_owned()), "{id} for {user}");
    }
}
