//! Likes and favorites.

use serde_json::{Value, json};

use crate::server::{Server, users};

fn counts(likes: u64, favorites: u64) -> Value {
    json!({"likes": likes, "favorites": favorites, "comments": 0, "reposts": 0})
}

fn state(id: u64, user: u64, kind: &str, since: Option<u64>, counts: Value) -> Value {
    let mut state = json!({"content_id": id.to_string(), "user_id": user.to_string(), "kind": kind,
        "active": since.is_some(), "counts": counts});
    if let Some(since) = since {
        state["since"] = json!(since);
    }
    state
}

#[test]
fn a_reaction_is_idempotent_and_returns_its_state() {
    let server = Server::start();
    server.publish(10, 9, 100);
    let path = "/v1/content/10/reactions/like/1";
    let liked = state(10, 1, "like", Some(50), counts(1, 0));
    assert_eq!(server.call("DELETE", path, "").expect(200), state(10, 1, "like", None, counts(0, 0)));
    assert_eq!(server.call("PUT", path, r#"{"since":50}"#).expect(200), liked);
    assert_eq!(server.call("PUT", path, r#"{"since":60}"#).expect(200), liked);
    assert_eq!(server.call("PUT", path, "").expect(200), liked);
    let favorite = server.call("PUT", "/v1/content/10/reactions/favorite/1", "{}").expect(200);
    assert!(favorite["since"].as_u64().unwrap() > 1_600_000_000_000);
    assert_eq!(favorite["counts"], counts(1, 1));
    assert_eq!(server.call("DELETE", path, "").expect(200), state(10, 1, "like", None, counts(0, 1)));
    assert_eq!(server.call("DELETE", path, "").expect(200), state(10, 1, "like", None, counts(0, 1)));
    assert_eq!(server.call("PUT", path, r#"{"since":70}"#).expect(200), state(10, 1, "like", Some(70), counts(1, 1)));
}

#[test]
fn only_kinds_and_items_that_are_there() {
    let server = Server::start();
    server.publish(10, 9, 100);
    for kind in ["likes", "Like", "dislike", "%20", "1"] {
        for (method, path) in [
            ("PUT", format!("/v1/content/10/reactions/{kind}/1")),
            ("DELETE", format!("/v1/content/10/reactions/{kind}/1")),
            ("GET", format!("/v1/content/10/reactions/{kind}")),
            ("GET", format!("/v1/users/1/reactions/{kind}")),
        ] {
            server.call(method, &path, "").problem(&path, 400, "invalid_kind");
        }
    }
    let gone = |id: u64| {
        for (method, path) in [
            ("PUT", format!("/v1/content/{id}/reactions/like/1")),
            ("DELETE", format!("/v1/content/{id}/reactions/like/1")),
            ("GET", format!("/v1/content/{id}/reactions/like")),
        ] {
            server.call(method, &path, "").problem(&path, 404, "content_not_found");
        }
    };
    gone(11);
    server.call("PUT", "/v1/content/10/reactions/like/1", "").expect(200);
    server.call("DELETE", "/v1/content/10", "");
    gone(10);
    assert!(server.ids("/v1/users/1/reactions/like").is_empty());
}

#[test]
fn both_lists_are_paged() {
    let server = Server::start();
    for (id, at) in [(10, 300), (11, 100), (12, 200), (13, 200)] {
        server.publish(id, 9, at);
        server.call("PUT", &format!("/v1/content/{id}/reactions/favorite/1"), "").expect(200);
    }
    for (user, since) in [(1, 30), (2, 10), (3, 20), (4, 20)] {
        let body = format!(r#"{{"since":{since}}}"#);
        server.call("PUT", &format!("/v1/content/10/reactions/like/{user}"), body).expect(200);
    }
    let page = server.get("/v1/content/10/reactions/like?limit=2");
    assert_eq!(
        page,
        json!({"items": [{"user_id": "1", "since": 30}, {"user_id": "4", "since": 20}], "next": "20-4", "prev": "30-1"})
    );
    assert_eq!(users(&server.get("/v1/content/10/reactions/like?before=20-4")), [3, 2]);
    assert_eq!(users(&server.get("/v1/content/10/reactions/like?after=10-2&limit=2")), [4, 3]);
    assert_eq!(server.get("/v1/content/11/reactions/like"), json!({"items": [], "next": null, "prev": null}));

    let mine = "/v1/users/1/reactions/favorite";
    assert_eq!(server.ids(mine), [10, 13, 12, 11]);
    let reply = server.call("GET", &format!("{mine}?limit=2&view=ids"), "");
    assert_eq!(
        reply.expect(200),
        json!({"items": [{"content_id": "10", "author_id": "9", "published_at": 300},
            {"content_id": "13", "author_id": "9", "published_at": 200}], "next": "200-13", "prev": "300-10"})
    );
    let links = "<?limit=2&view=ids&before=200-13>; rel=\"next\", <?limit=2&view=ids&after=300-10>; rel=\"prev\"";
    assert_eq!(reply.header("link"), Some(links));
    assert_eq!(server.ids(&format!("{mine}?before=200-13")), [12, 11]);
    assert_eq!(server.ids(&format!("{mine}?after=100-11&limit=2")), [13, 12]);
    assert_eq!(server.get(mine)["items"][0]["author"]["user_id"], "9");
    // A deleted item leaves no gap.
    server.call("DELETE", "/v1/content/13", "");
    let page = server.get(&format!("{mine}?limit=2"));
    assert_eq!((crate::server::ids(&page), &page["next"]), (vec![10, 12], &json!("200-12")));
}

#[test]
fn many_at_once_count_once_each() {
    let server = Server::start();
    server.publish(10, 9, 100);
    server.publish(11, 9, 100);
    std::thread::scope(|threads| {
        for part in 0..8_u64 {
            let server = &server;
            threads.spawn(move || {
                for n in 0..25 {
                    let user = 1 + part * 25 + n;
                    for (method, item) in [("PUT", 10), ("PUT", 10), ("PUT", 11), ("DELETE", 11)] {
                        let path = format!("/v1/content/{item}/reactions/like/{user}");
                        let state = server.call(method, &path, "").expect(200);
                        assert_eq!(state["active"], method == "PUT", "{method} {path}");
                        assert!(state["counts"]["likes"].as_u64().unwrap() <= 200);
                    }
                }
            });
        }
    });
    let nobody = |item| server.call("DELETE", &format!("/v1/content/{item}/reactions/like/999"), "").expect(200);
    assert_eq!((&nobody(10)["counts"], &nobody(11)["counts"]), (&counts(200, 0), &counts(0, 0)));
    let mut found = users(&server.get("/v1/content/10/reactions/like?limit=100"));
    found.extend(users(&server.get(&format!(
        "/v1/content/10/reactions/like?limit=100&before={}",
        server.get("/v1/content/10/reactions/like?limit=100")["next"].as_str().unwrap()
    ))));
    found.sort_unstable();
    assert_eq!(found, (1..=200).collect::<Vec<_>>());
    assert!((server.figure("tideline_reactions_total") - 802.0).abs() < 0.5);
    assert!(server.figure("tideline_reaction_writes_total") <= 802.0);
    assert!(server.figure("tideline_reactions_waiting") < 0.5);
}
