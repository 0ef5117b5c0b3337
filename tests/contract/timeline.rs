//! `GET /v1/users/{uid}/timeline`, `GET /v1/users/{uid}/content`

use serde_json::json;

use super::town::{KINDS, Town};

#[test]
fn a_timeline_shows_items_with_author_counts_and_viewer() {
    let town = Town::new();
    assert_eq!(town.server.ids("/v1/users/1/timeline"), [30, 21, 12, 11, 10]);
    assert_eq!(
        town.server.get("/v1/users/1/timeline")["items"][4],
        json!({"content_id": "10", "author_id": "2", "published_at": 100, "kind": "post", "text": "ten", "media": [],
            "topics": ["rust"], "broadcast": true, "to": [], "audience": "public",
            "counts": {"comments": 2, "reposts": 1, "reactions": {"like": 2, "favorite": 1}},
            "author": {"user_id": "2", "nickname": "Ann", "avatar": "https://a.example/ann.png"},
            "viewer": {"reactions": ["like", "favorite"]}})
    );
    let page = town.server.get("/v1/users/2/content");
    assert_eq!(page["items"][0].get("viewer"), None, "nobody's page has a viewer");
    assert_eq!(town.server.ids("/v1/users/6/timeline"), [0; 0], "one muted, the other hides");
    town.check("all lists");
}

#[test]
fn own_content_comes_in_only_where_it_is_asked_for() {
    let town = Town::empty(&[("TIDELINE__TIMELINE__INCLUDE_OWN", "true")]);
    town.server.follow(1, 2, 1);
    town.server.publish(5, 1, 10);
    town.server.publish(6, 2, 11);
    assert_eq!(town.server.ids("/v1/users/1/timeline"), [6, 5]);
    assert_eq!(town.server.get("/v1/users/1/timeline/unread")["count"], 2);
    assert_eq!(town.server.ids("/v1/users/2/timeline"), [6]);
    assert_eq!(town.server.ids("/v1/users/1/content"), [5]);
}

#[test]
fn everything_is_the_same_after_a_crash() {
    let mut town = Town::new();
    town.delete(11);
    town.mute(1, 4);
    town.unreact("like", 10, 1);
    town.server = town.server.restart("KILL", &[KINDS]);
    town.check("after a crash");
    town.restore(11);
    town.unmute(1, 4);
    town.check("and goes on");
}
