//! Items in full: the counts, the author and the viewer's reactions, wherever an item is shown.

use serde_json::{Value, json};

use crate::server::{Server, ids};

const TIMELINE: &str = "/v1/users/1/timeline";

/// Every place that shows item 10, with and without an author beside it.
fn everywhere(server: &Server) -> Vec<(String, Value)> {
    let single = server.get("/v1/content/10");
    assert!(single.get("author").is_none() && single.get("viewer").is_none(), "{single}");
    let mut shown = vec![("alone".to_owned(), single)];
    for list in [TIMELINE, "/v1/users/2/content", "/v1/content?ids=11,10", "/v1/users/7/reactions/like"] {
        let page = server.get(list);
        let items = page["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["content_id"] == "10").unwrap_or_else(|| panic!("{list}: {page}"));
        assert_eq!(item["author"], json!({"user_id": "2", "nickname": null, "avatar": null}), "{list}");
        assert_eq!(item.get("viewer").is_some(), list == TIMELINE, "{list}: {item}");
        shown.push((list.to_owned(), item.clone()));
    }
    shown
}

fn world() -> Server {
    let server = Server::start();
    server.follow(1, 2, 1);
    server.publish(10, 2, 100);
    server.publish(11, 2, 110);
    server.call("PUT", "/v1/content/10/reactions/like/7", "").expect(200);
    server
}

#[test]
fn counts_are_the_same_and_fresh_everywhere() {
    let server = world();
    let expect = |counts: &Value| {
        for (place, item) in everywhere(&server) {
            assert_eq!(&item["counts"], counts, "{place}");
        }
    };
    expect(&json!({"likes": 1, "favorites": 0, "comments": 0, "reposts": 0}));
    let publish = |id: u64, kind: &str| {
        let body = json!({"author_id": 5, "content_id": id, "kind": kind, "ref_id": 10, "broadcast": false});
        server.call("POST", "/v1/content", body.to_string()).expect(201);
    };
    publish(20, "comment");
    expect(&json!({"likes": 1, "favorites": 0, "comments": 1, "reposts": 0}));
    publish(21, "comment");
    publish(22, "repost");
    server.call("PUT", "/v1/content/10/reactions/favorite/1", "").expect(200);
    expect(&json!({"likes": 1, "favorites": 1, "comments": 2, "reposts": 1}));
    assert_eq!(server.call("DELETE", "/v1/content/20", "").status, 204);
    server.call("DELETE", "/v1/content/10/reactions/favorite/1", "").expect(200);
    expect(&json!({"likes": 1, "favorites": 0, "comments": 1, "reposts": 1}));
    let edited = server.call("PATCH", "/v1/content/10", r#"{"text":"new"}"#).expect(200);
    assert_eq!(edited["counts"], json!({"likes": 1, "favorites": 0, "comments": 1, "reposts": 1}));
}

#[test]
fn an_author_is_shown_as_the_profile_says_now() {
    let server = world();
    for (profile, nickname, avatar) in [
        (json!({"nickname": "Ada", "avatar": "/a.png", "extra": {"x": 1}}), json!("Ada"), json!("/a.png")),
        (json!({"nickname": "Bea"}), json!("Bea"), Value::Null),
        (json!({}), Value::Null, Value::Null),
    ] {
        server.call("PUT", "/v1/users/2", profile.to_string()).expect(200);
        for list in [TIMELINE, "/v1/users/2/content", "/v1/content?ids=11,10", "/v1/users/7/reactions/like"] {
            let author = server.get(list)["items"][0]["author"].take();
            assert_eq!(author, json!({"user_id": "2", "nickname": nickname, "avatar": avatar}), "{list}");
        }
    }
}

#[test]
fn a_new_item_may_have_been_commented_on_already() {
    let server = Server::start();
    let comment = json!({"author_id": 5, "content_id": 20, "kind": "comment", "ref_id": 10}).to_string();
    server.call("POST", "/v1/content", comment).expect(201);
    let post = r#"{"author_id":2,"content_id":10}"#;
    for status in [201, 200] {
        let published = server.call("POST", "/v1/content", post).expect(status);
        assert_eq!(published["counts"]["comments"], 1, "{published}");
        assert!(published.get("author").is_none());
    }
    let batch = server.call("POST", "/v1/content/batch", format!("{{\"items\":[{post}]}}")).expect(200);
    assert_eq!(batch["items"][0], server.get("/v1/content/10"));
}

#[test]
fn a_timeline_shows_what_its_user_did() {
    let server = world();
    let viewer = |user: u64, id: &str| {
        let page = server.get(&format!("/v1/users/{user}/timeline"));
        page["items"].as_array().unwrap().iter().find(|item| item["content_id"] == id).unwrap()["viewer"].clone()
    };
    let is = |liked: bool, favorited: bool| json!({"liked": liked, "favorited": favorited});
    server.follow(7, 2, 1);
    assert_eq!(
        (viewer(1, "10"), viewer(7, "10"), viewer(7, "11")),
        (is(false, false), is(true, false), is(false, false))
    );
    server.call("PUT", "/v1/content/10/reactions/favorite/1", "").expect(200);
    assert_eq!((viewer(1, "10"), viewer(7, "10")), (is(false, true), is(true, false)));
    server.call("DELETE", "/v1/content/10/reactions/like/7", "").expect(200);
    assert_eq!(viewer(7, "10"), is(false, false));
}

#[test]
fn what_is_cached_is_never_what_was() {
    let server = world();
    for round in 0..20 {
        let text = format!("round {round}");
        server.call("PATCH", "/v1/content/10", json!({ "text": text }).to_string()).expect(200);
        for (place, item) in everywhere(&server) {
            assert_eq!(item["text"], text, "{place}");
        }
    }
    assert!(server.figure(r#"tideline_cache_entries{cache="contents"}"#) >= 1.0);
    assert_eq!(server.call("DELETE", "/v1/content/10", "").status, 204);
    server.call("GET", "/v1/content/10", "").problem("deleted", 404, "content_not_found");
    for list in [TIMELINE, "/v1/users/2/content", "/v1/content?ids=11,10"] {
        assert_eq!(ids(&server.get(list)), [11], "{list}");
    }
}

#[test]
fn ids_are_three_fields_everywhere() {
    let server = world();
    for list in [
        "/v1/users/1/timeline?view=ids",
        "/v1/users/2/content?view=ids",
        "/v1/content?ids=10&view=ids",
        "/v1/users/7/reactions/like?view=ids",
    ] {
        let page = server.get(list);
        let last = page["items"].as_array().unwrap().last().unwrap();
        assert_eq!(last, &json!({"content_id": "10", "author_id": "2", "published_at": 100}), "{list}");
    }
}
