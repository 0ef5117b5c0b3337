//! `PUT` and `DELETE /v1/users/{uid}/following/{target}`

use super::town::Town;
use crate::server::Server;

#[test]
fn a_follow_brings_what_was_published_before() {
    let mut town = Town::new();
    for (user, target) in [(4, 2), (2, 3), (5, 4), (6, 3), (6, 1), (1, 99)] {
        town.follow(user, target, 500);
        town.check(&format!("{user} follows {target}"));
        town.follow(user, target, 600);
        town.check(&format!("{user} follows {target} already"));
    }
}

#[test]
fn an_unfollow_takes_everything_away_and_a_follow_brings_it_back() {
    let mut town = Town::new();
    town.twice(&[(1, 2), (1, 3), (2, 1), (6, 4), (5, 1)], Town::unfollow);
    town.follow(1, 2, 700);
    town.check("followed again");
}

#[test]
fn a_follow_without_a_time_is_from_now_on() {
    let mut town = Town::new();
    for (target, body) in [(5, ""), (6, "{}"), (7, r#"{"since":null}"#)] {
        let found = town.server.call("PUT", &format!("/v1/users/1/following/{target}"), body).expect(200);
        let since = found["since"].as_u64().unwrap();
        assert!(since > 1_600_000_000_000);
        town.model.follows.insert((1, target), since);
    }
    town.check("now");
}

#[test]
fn nobody_follows_themselves_or_too_many() {
    let server = Server::with(&[("TIDELINE__GRAPH__FOLLOW_LIMIT", "2")]);
    server.call("PUT", "/v1/users/1/following/1", "").problem("self", 422, "self_follow");
    server.follow(1, 2, 1);
    server.follow(1, 3, 1);
    server.call("PUT", "/v1/users/1/following/4", "").problem("three", 422, "follow_limit");
    server.follow(1, 3, 9);
    assert_eq!(server.get("/v1/users/1")["counts"]["following"], 2);
    server.call("DELETE", "/v1/users/1/following/2", "").expect(200);
    server.follow(1, 4, 1);
    assert_eq!(server.call("DELETE", "/v1/users/1/following/1", "").expect(200)["relation"], "none");
}

#[test]
fn the_limit_is_a_thousand_unless_told() {
    let town = Town::empty(&[]);
    let many: Vec<u64> = (2..=1001).collect();
    let body = serde_json::json!({ "follow": many }).to_string();
    town.server.call("POST", "/v1/users/1/following/batch", body).expect(200);
    town.server.call("PUT", "/v1/users/1/following/5000", "").problem("1001", 422, "follow_limit");
    assert_eq!(town.server.get("/v1/users/1")["counts"]["following"], 1000);
}
