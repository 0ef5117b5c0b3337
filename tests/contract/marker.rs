//! `GET` and `PUT /v1/users/{uid}/marker`, `GET /v1/users/{uid}/timeline/unread`

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::town::Town;

#[test]
fn a_marker_moves_forward_only() {
    let mut town = Town::new();
    assert_eq!(town.server.get("/v1/users/1/marker"), json!({"cursor": "110-11"}));
    assert_eq!(town.server.get("/v1/users/2/marker"), json!({"cursor": null}));
    for (at, id) in [(110, 12), (110, 11), (5, 5), (110, 12), (140, 1), (139, 99), (140, (1 << 63) - 1), (1, 1)] {
        for user in [1, 5] {
            town.read_to(user, at, id);
            town.check(&format!("{user} read to {at}-{id}"));
        }
    }
}

#[test]
fn a_marker_is_a_cursor() {
    let town = Town::new();
    for bad in
        ["{}", r#"{"cursor":5}"#, r#"{"cursor":""}"#, r#"{"cursor":"1"}"#, r#"{"cursor":"1-0"}"#, r#"{"cursor":"1-x"}"#]
    {
        town.server.call("PUT", "/v1/users/1/marker", bad).problem(bad, 400, "invalid_body");
    }
    town.check("refused");
}

#[test]
fn a_marker_ahead_of_the_clock_counts_as_at_the_newest_item() {
    let town = Town::empty(&[]);
    let (server, now) = (&town.server, || u64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
    server.follow(1, 2, 1);
    let mark = |at: u64| {
        let place = json!({"cursor": format!("{at}-{}", (1_u64 << 63) - 1)}).to_string();
        server.call("PUT", "/v1/users/1/marker", place).expect(200)["cursor"].as_str().unwrap().to_owned()
    };
    let unread = || server.get("/v1/users/1/timeline/unread")["count"].as_u64().unwrap();
    let publish = |body: Value| server.call("POST", "/v1/content", body.to_string()).expect(201);
    // In an empty timeline a place ahead of the clock counts as now.
    let empty: u64 = mark(now() + 300_000).split_once('-').unwrap().0.parse().unwrap();
    assert!(empty <= now(), "{empty}");
    std::thread::sleep(Duration::from_millis(2));
    publish(json!({"author_id": 2, "content_id": 1}));
    assert_eq!(unread(), 1);
    let newest = publish(json!({"author_id": 2, "content_id": 2}))["published_at"].clone();
    assert_eq!(mark(now() + 540_000), format!("{newest}-2"));
    assert_eq!(unread(), 0);
    publish(json!({"author_id": 2, "content_id": 3}));
    assert_eq!(unread(), 1);
    // A marker can be at an item ahead of the clock. A place below that item counts as at the newest item up to it.
    let ahead = now() + 500_000;
    publish(json!({"author_id": 2, "content_id": 4, "published_at": ahead}));
    let newest = publish(json!({"author_id": 2, "content_id": 5}))["published_at"].clone();
    assert_eq!(mark(ahead - 1000), format!("{newest}-5"));
    publish(json!({"author_id": 2, "content_id": 6}));
    assert_eq!(unread(), 2);
    assert_eq!(mark(ahead + 1), format!("{ahead}-4"));
    assert_eq!(unread(), 0);
}

#[test]
fn unread_follows_what_the_timeline_shows() {
    let mut town = Town::new();
    town.publish(json!({"content_id": 40, "author_id": 3, "published_at": 105}));
    town.check("older than the marker");
    town.publish(json!({"content_id": 41, "author_id": 3, "published_at": 145}));
    town.check("newer");
    assert_eq!(town.server.get("/v1/users/1/timeline/unread"), json!({"count": 4, "capped": false}));
    town.mute(1, 3);
    town.unfollow(1, 4);
    town.delete(12);
    town.check("nothing left to read");
    assert_eq!(town.server.get("/v1/users/1/timeline/unread"), json!({"count": 0, "capped": false}));
}

#[test]
fn unread_counts_no_further_than_a_thousand() {
    let town = Town::empty(&[]);
    town.server.follow(1, 2, 1);
    let unread = || town.server.get("/v1/users/1/timeline/unread");
    for (first, expected) in [(1, 999), (1000, 1000), (1001, 1000)] {
        let last = if first == 1 { 999 } else { first };
        let items: Vec<Value> =
            (first..=last).map(|n| json!({"author_id": 2, "content_id": n, "published_at": n})).collect();
        town.server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
        assert_eq!(unread(), json!({"count": expected, "capped": first > 1000}));
    }
    town.server.call("PUT", "/v1/users/1/marker", r#"{"cursor":"1-1"}"#).expect(200);
    assert_eq!(unread(), json!({"count": 1000, "capped": false}));
}
