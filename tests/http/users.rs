//! Profiles and the counts that come with them.

use serde_json::{Value, json};

use crate::server::Server;

fn profile(user: u64, fields: &Value, counts: [u64; 4]) -> Value {
    let [following, followers, friends, content] = counts;
    json!({
        "user_id": user.to_string(),
        "nickname": fields["nickname"],
        "avatar": fields["avatar"],
        "extra": fields["extra"],
        "counts": {"following": following, "followers": followers, "friends": friends, "content": content},
    })
}

#[test]
fn any_id_is_a_user_with_an_empty_profile() {
    let server = Server::start();
    for user in [1, 5, (1 << 63) - 1] {
        let reply = server.get(&format!("/v1/users/{user}"));
        assert_eq!(reply, profile(user, &json!({}), [0; 4]));
        let keys: Vec<&String> = reply.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["avatar", "counts", "extra", "nickname", "user_id"]);
    }
}

#[test]
fn a_profile_is_put_whole_and_again_and_again() {
    let server = Server::start();
    let full =
        json!({"nickname": "Ann é", "avatar": "https://example.org/a.png", "extra": {"b": 1, "a": [true, null]}});
    for _ in 0..2 {
        let answer = server.call("PUT", "/v1/users/1", full.to_string()).expect(200);
        assert_eq!(answer, profile(1, &full, [0; 4]));
        assert_eq!(server.get("/v1/users/1"), answer);
    }
    // What is left out is gone, and so is what is null.
    let short = json!({"avatar": "b.png"});
    assert_eq!(server.call("PUT", "/v1/users/1", short.to_string()).expect(200), profile(1, &short, [0; 4]));
    assert_eq!(server.get("/v1/users/1"), profile(1, &short, [0; 4]));
    let nulls = json!({"nickname": null, "avatar": null, "extra": null});
    assert_eq!(server.call("PUT", "/v1/users/1", nulls.to_string()).expect(200), profile(1, &json!({}), [0; 4]));
    assert_eq!(server.call("PUT", "/v1/users/1", "{}").expect(200), server.get("/v1/users/1"));
}

#[test]
fn extra_comes_back_as_it_was_written_also_after_a_restart() {
    let server = Server::start();
    let extra = r#"{"b":1.50, "a":{"x":[1e2,"é\n"]}}"#;
    server.call("PUT", "/v1/users/1", format!(r#"{{"extra":{extra}}}"#)).expect(200);
    assert!(server.call("GET", "/v1/users/1", "").text().contains(extra));
    let server = server.restart("KILL", &[]);
    assert!(server.call("GET", "/v1/users/1", "").text().contains(extra));
}

#[test]
fn lengths_are_limited_in_characters() {
    let server = Server::start();
    let put =
        |field: &str, length: usize| server.call("PUT", "/v1/users/1", json!({field: "é".repeat(length)}).to_string());
    for (field, most) in [("nickname", 200), ("avatar", 2048)] {
        assert_eq!(put(field, most).expect(200)[field], "é".repeat(most));
        assert_eq!(put(field, 1).expect(200)[field], "é");
        for length in [0, most + 1] {
            let problem = put(field, length).problem(field, 400, "invalid_body");
            assert!(problem["detail"].as_str().unwrap().contains(field), "{problem}");
        }
        assert_eq!(server.get("/v1/users/1")[field], "é", "nothing has changed");
    }
}

#[test]
fn counts_follow_every_change_at_once() {
    let server = Server::start();
    let counts = |user: u64| {
        let counts = server.get(&format!("/v1/users/{user}"))["counts"].take();
        ["following", "followers", "friends", "content"].map(|name| counts[name].as_u64().unwrap())
    };
    server.follow(1, 2, 10);
    server.follow(1, 3, 10);
    assert_eq!((counts(1), counts(2)), ([2, 0, 0, 0], [0, 1, 0, 0]));
    server.follow(2, 1, 20);
    assert_eq!((counts(1), counts(2)), ([2, 1, 1, 0], [1, 1, 1, 0]));
    // A repeat counts nothing.
    server.follow(2, 1, 30);
    server.publish(10, 1, 100);
    server.publish(11, 1, 110);
    let repeated = r#"{"content_id":11,"author_id":1,"published_at":110,"text":"item 11"}"#;
    server.call("POST", "/v1/content", repeated).expect(200);
    server.call("POST", "/v1/content", r#"{"content_id":12,"author_id":1,"broadcast":false}"#).expect(201);
    assert_eq!(counts(1), [2, 1, 1, 2], "an item that is not broadcast is not on the own page");
    assert_eq!(server.ids("/v1/users/1/content"), [11, 10]);
    server.call("DELETE", "/v1/content/10", "");
    server.call("DELETE", "/v1/content/12", "");
    assert_eq!(counts(1), [2, 1, 1, 1]);
    server.call("DELETE", "/v1/users/1/following/2", "").expect(200);
    assert_eq!((counts(1), counts(2)), ([1, 1, 0, 1], [1, 0, 0, 0]));
    let answer = server.call("PUT", "/v1/users/1", r#"{"nickname":"Ann"}"#).expect(200);
    assert_eq!(answer, profile(1, &json!({"nickname": "Ann"}), [1, 1, 0, 1]));
    assert_eq!(server.restart("KILL", &[]).get("/v1/users/1"), answer);
}

#[test]
fn a_read_for_a_user_of_whom_nothing_is_known_leaves_nothing_behind() {
    for own in ["false", "true"] {
        let server = Server::with(&[("TIDELINE__TIMELINE__INCLUDE_OWN", own)]);
        server.follow(1, 2, 10);
        server.publish(10, 2, 100);
        assert_eq!(server.ids("/v1/users/1/timeline"), [10]);
        server.settle();
        let before = server.get("/v1/admin/stats")["tables"].take();
        for path in ["timeline", "timeline?view=ids", "timeline/unread", "marker", "content", "followers", "presence"] {
            server.get(&format!("/v1/users/77/{path}"));
            server.get(&format!("/v1/users/2/{path}"));
        }
        server.settle();
        assert_eq!(server.get("/v1/admin/stats")["tables"], before, "own content {own}");
        // From the first follow on there is something to keep.
        server.follow(77, 2, 20);
        assert_eq!(server.ids("/v1/users/77/timeline"), [10]);
    }
}
