//! Mutes and hidden-from: at once, in every list that they concern and in no other, and back again.

use serde_json::{Value, json};

use crate::server::{Server, users};

/// User 1 follows 2 and 3, user 2 follows 1; each of 1, 2 and 3 has published.
fn world() -> Server {
    let server = Server::start();
    for (user, target) in [(1, 2), (1, 3), (2, 1)] {
        server.follow(user, target, 5);
    }
    for (id, author, at) in [(10, 1, 100), (20, 2, 200), (21, 2, 210), (30, 3, 300)] {
        server.publish(id, author, at);
    }
    server
}

fn relation(user: u64, target: u64, word: &str, since: Option<u64>, muted: bool, hidden: bool) -> Value {
    let mut relation = json!({"user_id": user.to_string(), "target_id": target.to_string(), "relation": word,
        "muted": muted, "hidden": hidden});
    if let Some(since) = since {
        relation["since"] = json!(since);
    }
    relation
}

fn timeline(server: &Server, user: u64) -> Vec<u64> {
    let verified = server.get(&format!("/v1/admin/users/{user}/timeline/verify"));
    assert_eq!(verified["exact"], true, "{verified}");
    server.ids(&format!("/v1/users/{user}/timeline"))
}

fn reason(server: &Server, user: u64, id: u64) -> Value {
    server.get(&format!("/v1/admin/users/{user}/timeline/explain?content_id={id}"))["reason"].take()
}

#[test]
fn a_mute_hides_from_the_one_who_mutes_and_is_taken_back() {
    let server = world();
    let mute = "/v1/users/1/mutes/2";
    let muted = relation(1, 2, "mutual", Some(5), true, false);
    assert_eq!(timeline(&server, 1), [30, 21, 20]);
    for body in ["", "{}", " { } "] {
        assert_eq!(server.call("PUT", mute, body).expect(200), muted);
    }
    assert_eq!(timeline(&server, 1), [30]);
    assert_eq!(server.ids("/v1/users/1/timeline?limit=1&before=300-30"), Vec::<u64>::new());
    assert_eq!((reason(&server, 1, 20), reason(&server, 1, 30)), (json!("muted"), json!("listed")));
    // Nobody else sees a difference, nor does any other list.
    assert_eq!(timeline(&server, 2), [10]);
    assert_eq!(server.ids("/v1/users/2/content"), [21, 20]);
    assert_eq!(users(&server.get("/v1/users/1/following")), [3, 2]);
    assert_eq!(server.get("/v1/content/20")["text"], "item 20");
    // What comes meanwhile is not shown either, and all of it is there after.
    server.publish(22, 2, 220);
    server.settle();
    assert_eq!(timeline(&server, 1), [30]);
    for _ in 0..2 {
        let lifted = server.call("DELETE", mute, "").expect(200);
        assert_eq!(lifted, relation(1, 2, "mutual", Some(5), false, false));
    }
    assert_eq!(timeline(&server, 1), [30, 22, 21, 20]);
    assert_eq!(reason(&server, 1, 20), "listed");
}

#[test]
fn a_hide_hides_from_the_other_one_and_is_taken_back() {
    let server = world();
    let hide = "/v1/users/2/hidden-from/1";
    assert_eq!(timeline(&server, 1), [30, 21, 20]);
    for _ in 0..2 {
        assert_eq!(server.call("PUT", hide, "").expect(200), relation(2, 1, "mutual", Some(5), false, true));
    }
    assert_eq!(timeline(&server, 1), [30]);
    assert_eq!(reason(&server, 1, 20), "hidden");
    assert_eq!(timeline(&server, 2), [10], "it goes one way");
    assert_eq!(reason(&server, 2, 10), "listed");
    // The other one is not told.
    assert_eq!(server.get("/v1/users/1/relations?targets=2")["items"][0]["hidden"], false);
    assert!(users(&server.get("/v1/users/1/hidden-from")).is_empty());
    // Whoever follows later is not shown anything either.
    server.call("PUT", "/v1/users/2/hidden-from/9", "").expect(200);
    server.follow(9, 2, 6);
    assert_eq!((timeline(&server, 9), reason(&server, 9, 20)), (vec![], json!("hidden")));
    for _ in 0..2 {
        assert_eq!(server.call("DELETE", hide, "").expect(200), relation(2, 1, "mutual", Some(5), false, false));
    }
    assert_eq!(timeline(&server, 1), [30, 21, 20]);
    assert_eq!(timeline(&server, 9), Vec::<u64>::new());
}

#[test]
fn every_relation_tells_of_both() {
    let server = world();
    server.call("PUT", "/v1/users/1/mutes/2", "").expect(200);
    server.call("PUT", "/v1/users/1/hidden-from/2", "").expect(200);
    server.call("PUT", "/v1/users/1/mutes/7", "").expect(200);
    let items = |of: Value| of["items"].as_array().unwrap().clone();
    assert_eq!(
        items(server.get("/v1/users/1/relations?targets=2,3,7")),
        [
            relation(1, 2, "mutual", Some(5), true, true),
            relation(1, 3, "following", Some(5), false, false),
            relation(1, 7, "none", None, true, false),
        ]
    );
    let batch = server.call("POST", "/v1/users/1/following/batch", r#"{"follow":[2],"unfollow":[7]}"#).expect(200);
    let both = [relation(1, 2, "mutual", Some(5), true, true), relation(1, 7, "none", None, true, false)];
    assert_eq!(items(batch), both);
    assert_eq!(server.call("DELETE", "/v1/users/1/following/2", "").expect(200)["muted"], true);
    assert_eq!(server.call("PUT", "/v1/users/1/following/2", r#"{"since":6}"#).expect(200)["hidden"], true);
    assert_eq!(timeline(&server, 1), [30], "a mute outlives the follow");
}

#[test]
fn both_are_listed_newest_first_and_paged() {
    let server = Server::start();
    for list in ["mutes", "hidden-from"] {
        for target in [5, 3, 9, 4] {
            server.call("PUT", &format!("/v1/users/1/{list}/{target}"), "").expect(200);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        server.call("PUT", &format!("/v1/users/1/{list}/5"), "").expect(200);
        let path = format!("/v1/users/1/{list}");
        let whole = server.get(&path);
        assert_eq!(users(&whole), [4, 9, 3, 5], "one that stands keeps its place");
        let keys: Vec<_> = whole["items"][0].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["since", "user_id"]);
        let (first, prev) = (server.call("GET", &format!("{path}?limit=2"), ""), &whole["prev"]);
        assert!(first.header("link").unwrap().contains("rel=\"next\""));
        let first = first.expect(200);
        assert_eq!((users(&first), &first["prev"]), (vec![4, 9], prev));
        let second = server.get(&format!("{path}?limit=2&before={}", first["next"].as_str().unwrap()));
        assert_eq!((users(&second), &second["next"]), (vec![3, 5], &Value::Null));
        let back = server.get(&format!("{path}?limit=1&after={}", second["prev"].as_str().unwrap()));
        assert_eq!(users(&back), [9]);
        server.call("DELETE", &format!("/v1/users/1/{list}/9"), "").expect(200);
        assert_eq!(users(&server.get(&path)), [4, 3, 5]);
        assert!(users(&server.get(&format!("/v1/users/2/{list}"))).is_empty());
    }
}

#[test]
fn nobody_mutes_itself_or_hides_from_itself() {
    let server = world();
    for (list, code) in [("mutes", "self_mute"), ("hidden-from", "self_hide")] {
        let path = format!("/v1/users/1/{list}/1");
        server.call("PUT", &path, "").problem(list, 422, code);
        assert_eq!(server.call("DELETE", &path, "").expect(200), relation(1, 1, "none", None, false, false));
        assert!(users(&server.get(&format!("/v1/users/1/{list}"))).is_empty());
    }
}

#[test]
fn own_content_is_shown_whatever_stands() {
    let server = Server::with(&[("TIDELINE__TIMELINE__INCLUDE_OWN", "true")]);
    server.follow(1, 2, 5);
    server.publish(10, 1, 100);
    server.publish(20, 2, 200);
    server.call("PUT", "/v1/users/1/mutes/2", "").expect(200);
    server.call("PUT", "/v1/users/1/hidden-from/2", "").expect(200);
    assert_eq!(timeline(&server, 1), [10]);
    assert_eq!(reason(&server, 1, 10), "listed");
}

#[test]
fn both_are_there_after_a_crash() {
    let server = world();
    server.call("PUT", "/v1/users/1/mutes/3", "").expect(200);
    server.call("PUT", "/v1/users/2/hidden-from/1", "").expect(200);
    let server = server.restart("KILL", &[]);
    assert_eq!(timeline(&server, 1), Vec::<u64>::new());
    server.call("DELETE", "/v1/users/1/mutes/3", "").expect(200);
    server.call("DELETE", "/v1/users/2/hidden-from/1", "").expect(200);
    assert_eq!(timeline(&server.restart("KILL", &[]), 1), [30, 21, 20]);
}
