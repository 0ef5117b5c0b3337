//! `POST /v1/users/{uid}/following/batch`

use serde_json::{Value, json};

use super::town::Town;

#[test]
fn follows_and_unfollows_are_one_change() {
    let mut town = Town::new();
    town.mute(1, 2);
    town.hide(1, 99);
    let body = json!({"follow": [5, "6", 2], "unfollow": [3, 99]}).to_string();
    for round in ["first", "again"] {
        let found = town.server.call("POST", "/v1/users/1/following/batch", &body).expect(200);
        for target in [5_usize, 6] {
            // Follows come first, in the order of the call.
            let since = found["items"][target - 5]["since"].as_u64().unwrap();
            town.model.follows.entry((1, target as u64)).or_insert(since);
        }
        town.model.follows.remove(&(1, 3));
        let wanted: Vec<Value> = [5, 6, 2, 3, 99].iter().map(|target| town.model.relation(1, *target)).collect();
        assert_eq!(found, json!({ "items": wanted }), "{round}");
        town.check(round);
    }
}

#[test]
fn all_or_none() {
    let town = Town::new();
    let many = |count: u64| (100..100 + count).collect::<Vec<_>>();
    for (body, status, code) in [
        (json!({"follow": [5, 1]}), 422, "self_follow"),
        (json!({"follow": [5, 5]}), 400, "invalid_body"),
        (json!({"follow": [5], "unfollow": [5]}), 400, "invalid_body"),
        (json!({"follow": [5, 0]}), 400, "invalid_body"),
        (json!({"follow": [], "unfollow": []}), 400, "invalid_body"),
        (json!({"follow": many(1001)}), 400, "invalid_body"),
        (json!({"follow": many(500), "unfollow": (2000..2501).collect::<Vec<_>>()}), 400, "invalid_body"),
        (json!({"follow": many(998)}), 422, "follow_limit"),
    ] {
        let reply = town.server.call("POST", "/v1/users/1/following/batch", body.to_string());
        reply.problem(&body.to_string()[..15], status, code);
    }
    town.check("none");
}
