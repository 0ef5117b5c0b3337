//! Records of users: `GET` and `PUT /v1/users/{uid}` and `/v1/users/{uid}/marker`, and
//! `GET /v1/users/{uid}/timeline/unread`

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use super::model::{Item, User};
use super::town::Town;

/// Paths below a user with one record each: the answer without one, and the record that user 1 of a town has.
pub(crate) const RECORD_PATHS: [(&str, &str, &str); 2] = [
    ("/marker", r#"{"cursor":null}"#, r#"{"cursor":"110-11"}"#),
    (
        "/settings",
        r#"{"approve_followers":false,"default_audience":"public"}"#,
        r#"{"approve_followers":false,"default_audience":"followers"}"#,
    ),
];

impl Town {
    /// Sets a whole profile.
    pub(crate) fn profile(&mut self, user: User, profile: Value) {
        let found = self.server.call("PUT", &format!("/v1/users/{user}"), profile.to_string()).expect(200);
        let whole = ["nickname", "avatar", "extra"].map(|name| (name.to_owned(), profile[name].clone()));
        self.model.profiles.insert(user, whole.into_iter().collect());
        assert_eq!(found, self.model.user(user));
    }

    /// Puts a record, or removes it with an empty body.
    pub(crate) fn record(&mut self, user: User, path: &'static str, body: &str, shown: Value) {
        let method = if body.is_empty() { "DELETE" } else { "PUT" };
        let found = self.server.call(method, &format!("/v1/users/{user}{path}"), body).expect(200);
        assert_eq!(found, shown);
        self.model.records.insert((user, path), shown);
    }

    /// Moves a marker forward.
    pub(crate) fn read_to(&mut self, user: User, at: u64, id: Item) {
        let body = json!({"cursor": format!("{at}-{id}")}).to_string();
        let (at, id) = self.model.read_to(user).max((at, id));
        self.record(user, "/marker", &body, json!({"cursor": format!("{at}-{id}")}));
    }
}

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
    for unknown in [r#"{"cursor":"1-0"}"#, r#"{"cursor":"1-x"}"#, r#"{"cursor":"1-1-1"}"#] {
        town.server.call("PUT", "/v1/users/1/marker", unknown).problem(unknown, 400, "unknown_cursor");
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
fn a_profile_is_replaced_whole_and_shows_in_every_author_summary() {
    let mut town = Town::new();
    for profile in [
        json!({"nickname": "Änne", "avatar": "https://a/b.png", "extra": {"a": [1, {"b": null}]}}),
        json!({"avatar": "http://a.example/only.png"}),
        json!({"nickname": null, "avatar": null, "extra": null}),
        json!({"nickname": "Ann"}),
        json!({}),
    ] {
        for user in [2, 4] {
            town.profile(user, profile.clone());
            town.check(&format!("{user}: {profile}"));
            town.profile(user, profile.clone());
            town.check(&format!("{user} again: {profile}"));
        }
    }
}

#[test]
fn any_id_is_a_user() {
    let town = Town::new();
    for user in ["99", "9223372036854775807"] {
        assert_eq!(
            town.server.get(&format!("/v1/users/{user}")),
            json!({"user_id": user, "nickname": null, "avatar": null, "extra": null,
                "counts": {"following": 0, "followers": 0, "friends": 0, "content": 0}})
        );
    }
    assert_eq!(
        town.server.get("/v1/users/2"),
        json!({"user_id": "2", "nickname": "Ann", "avatar": "https://a.example/ann.png", "extra": {"city": "Bonn"},
            "counts": {"following": 1, "followers": 4, "friends": 1, "content": 2}})
    );
}
