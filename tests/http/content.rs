//! Publishing, reading, editing and deleting content.

use serde_json::json;

use crate::server::{Server, ids};

#[test]
fn a_publish_returns_the_whole_item_and_its_place() {
    let server = Server::start();
    let body = r#"{"author_id":"7","content_id":9007199254740993,"published_at":1689089522000,"kind":"repost",
        "text":"héllo \"you\"\n","media":[{"type":"image","url":"/a.png", "w":1.50}],"topics":["seä","x"],
        "ref_id":"12","extra":{"b": 1e2 ,"a":[null]},"broadcast":false}"#;
    let reply = server.call("POST", "/v1/content", body);
    assert_eq!(reply.header("location"), Some("content/9007199254740993"));
    let expected = json!({
        "content_id": "9007199254740993", "author_id": "7", "published_at": 1_689_089_522_000_u64, "kind": "repost",
        "text": "héllo \"you\"\n", "media": [{"type": "image", "url": "/a.png", "w": 1.5}], "topics": ["seä", "x"],
        "ref_id": "12", "extra": {"b": 100.0, "a": [null]}, "broadcast": false,
        "counts": {"likes": 0, "favorites": 0, "comments": 0, "reposts": 0},
    });
    assert_eq!(reply.expect(201), expected);
    for untouched in [r#""media":[{"type":"image","url":"/a.png", "w":1.50}]"#, r#""extra":{"b": 1e2 ,"a":[null]}"#] {
        assert!(reply.text().contains(untouched), "{}", reply.text());
    }
    assert_eq!(server.get("/v1/content/9007199254740993"), expected);
}

#[test]
fn a_publish_without_id_or_time_gets_both() {
    let server = Server::start();
    let made: Vec<_> = (0..3).map(|_| server.call("POST", "/v1/content", r#"{"author_id":1}"#).expect(201)).collect();
    let id = |item: &serde_json::Value| item["content_id"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(id(&made[0]) < id(&made[1]) && id(&made[1]) < id(&made[2]));
    assert!(made[0]["published_at"].as_u64().unwrap() > 1_600_000_000_000);
    let first = made[0].as_object().unwrap();
    let keys: Vec<&str> = first.keys().map(String::as_str).collect();
    assert_eq!(keys.len(), 8, "absent fields are left out: {keys:?}");
    assert_eq!((&first["kind"], &first["media"], &first["topics"]), (&json!("post"), &json!([]), &json!([])));
    assert_eq!(first["broadcast"], json!(true));
    assert_eq!(server.ids("/v1/users/1/content").len(), 3);
}

#[test]
fn a_repeated_publish_is_the_same_or_a_conflict() {
    let server = Server::start();
    let body = r#"{"author_id":1,"content_id":5,"text":"a"}"#;
    let first = server.call("POST", "/v1/content", body).expect(201);
    let again = server.call("POST", "/v1/content", body);
    assert_eq!(again.header("location"), Some("content/5"));
    assert_eq!(again.expect(200), first);
    for other in [
        r#"{"author_id":1,"content_id":5,"text":"b"}"#,
        r#"{"author_id":2,"content_id":5,"text":"a"}"#,
        r#"{"author_id":1,"content_id":5,"text":"a","published_at":1}"#,
        r#"{"author_id":1,"content_id":5,"text":"a","broadcast":false}"#,
    ] {
        server.call("POST", "/v1/content", other).problem(other, 409, "content_exists");
    }
    assert_eq!(server.get("/v1/content/5"), first);
    assert_eq!(server.ids("/v1/users/1/content"), [5]);
}

#[test]
fn a_batch_is_published_as_a_whole() {
    let server = Server::start();
    let batch = r#"{"items":[{"author_id":1,"content_id":1,"published_at":10},
        {"author_id":2,"content_id":2,"published_at":20},{"author_id":1,"content_id":3,"published_at":30}]}"#;
    let first = server.call("POST", "/v1/content/batch", batch).expect(201);
    assert_eq!(ids(&first), [1, 2, 3]);
    assert_eq!(server.call("POST", "/v1/content/batch", batch).expect(200), first);
    let partly = r#"{"items":[{"author_id":1,"content_id":1,"published_at":10},{"author_id":1,"content_id":4}]}"#;
    assert_eq!(ids(&server.call("POST", "/v1/content/batch", partly).expect(201)), [1, 4]);

    let taken = r#"{"items":[{"author_id":9,"content_id":90},{"author_id":9,"content_id":2}]}"#;
    server.call("POST", "/v1/content/batch", taken).problem("taken", 409, "content_exists");
    let bad = r#"{"items":[{"author_id":9,"content_id":90},{"author_id":9,"kind":"No"}]}"#;
    let problem = server.call("POST", "/v1/content/batch", bad).problem("bad", 400, "invalid_body");
    assert!(problem["detail"].as_str().unwrap().starts_with("items[1]: "), "{problem}");
    let twice = r#"{"items":[{"author_id":9,"content_id":90},{"author_id":9,"content_id":90}]}"#;
    server.call("POST", "/v1/content/batch", twice).problem("twice", 400, "invalid_body");
    assert!(server.ids("/v1/users/9/content").is_empty());
}

#[test]
fn a_batch_takes_a_thousand_and_no_more() {
    let server = Server::start();
    let batch = |n: u64| {
        let items: Vec<_> = (1..=n).map(|id| json!({"author_id": 1, "content_id": id, "published_at": id})).collect();
        json!({ "items": items }).to_string()
    };
    server.call("POST", "/v1/content/batch", batch(1001)).problem("1001", 400, "invalid_body");
    assert!(server.ids("/v1/users/1/content").is_empty());
    assert_eq!(ids(&server.call("POST", "/v1/content/batch", batch(1000)).expect(201)).len(), 1000);
    assert_eq!(server.ids("/v1/users/1/content?limit=2"), [1000, 999]);
}

#[test]
fn many_are_read_in_the_order_asked_for() {
    let server = Server::start();
    for id in [1, 2, 3] {
        server.publish(id, 7, id);
    }
    let found = server.get("/v1/content?ids=3,99,1,3");
    assert_eq!(ids(&found), [3, 1]);
    assert_eq!(found["items"][0]["author"], json!({"user_id": "7", "nickname": null, "avatar": null}));
    assert_eq!(found.as_object().unwrap().len(), 1);
    let found = server.get("/v1/content?ids=2%2C1&view=ids");
    assert_eq!(found["items"][0], json!({"content_id": "2", "author_id": "7", "published_at": 2}));
    assert_eq!(ids(&server.get("/v1/content?ids=99")), [0; 0]);
    let hundred: Vec<String> = (1..=100).map(|id| id.to_string()).collect();
    assert_eq!(ids(&server.get(&format!("/v1/content?ids={}", hundred.join(",")))), [1, 2, 3]);
}

#[test]
fn an_edit_changes_what_it_names() {
    let server = Server::start();
    let body = r#"{"author_id":1,"content_id":5,"published_at":9,"text":"a","media":[{"type":"t","url":"u"}],"extra":{"k":1}}"#;
    server.call("POST", "/v1/content", body).expect(201);
    server.follow(2, 1, 1);
    let edited = server.call("PATCH", "/v1/content/5", r#"{"text":"b"}"#).expect(200);
    assert_eq!((&edited["text"], &edited["extra"]), (&json!("b"), &json!({"k": 1})));
    assert!(edited["edited_at"].as_u64().unwrap() > 1_600_000_000_000);
    assert_eq!(edited["published_at"], 9);
    let cleared = server.call("PATCH", "/v1/content/5", r#"{"text":null,"media":[],"extra":null}"#).expect(200);
    assert_eq!((cleared.get("text"), cleared.get("extra"), &cleared["media"]), (None, None, &json!([])));
    assert_eq!(server.get("/v1/content/5"), cleared);
    assert_eq!(server.get("/v1/users/2/timeline")["items"][0]["media"], json!([]));
    server.call("POST", "/v1/content", body).expect(200);
    server.call("PATCH", "/v1/content/6", r#"{"text":"b"}"#).problem("missing", 404, "content_not_found");
}

#[test]
fn a_delete_takes_the_item_from_every_list() {
    let server = Server::start();
    server.follow(2, 1, 1);
    for id in [4, 5, 6] {
        server.publish(id, 1, id);
    }
    let reply = server.call("DELETE", "/v1/content/5", "");
    assert_eq!((reply.status, reply.bytes.len()), (204, 0));
    server.call("DELETE", "/v1/content/5", "").problem("again", 404, "content_not_found");
    server.call("GET", "/v1/content/5", "").problem("read", 404, "content_not_found");
    server.call("PATCH", "/v1/content/5", "{}").problem("edit", 404, "content_not_found");
    assert_eq!(server.ids("/v1/content?ids=4,5,6"), [4, 6]);
    for list in ["/v1/users/1/content", "/v1/users/2/timeline"] {
        assert_eq!(server.ids(list), [6, 4], "{list}");
        assert_eq!(server.ids(&format!("{list}?view=ids")), [6, 4], "{list}");
    }
    let body = r#"{"content_id":5,"author_id":1,"published_at":5,"text":"item 5"}"#;
    server.call("POST", "/v1/content", body).problem("the id stays taken", 409, "content_exists");
}

#[test]
fn what_is_not_broadcast_is_in_no_list() {
    let server = Server::start();
    server.follow(2, 1, 1);
    server.call("POST", "/v1/content", r#"{"author_id":1,"content_id":5,"broadcast":false}"#).expect(201);
    server.publish(6, 1, 6);
    assert_eq!(server.ids("/v1/users/1/content"), [6]);
    assert_eq!(server.ids("/v1/users/2/timeline"), [6]);
    assert_eq!(server.get("/v1/content/5")["broadcast"], false);
}

#[test]
fn null_is_a_field_left_out() {
    let server = Server::start();
    let body = r#"{"author_id":1,"content_id":null,"published_at":null,"kind":null,"text":null,"media":null,
        "topics":null,"ref_id":null,"extra":null,"broadcast":null}"#;
    let item = server.call("POST", "/v1/content", body).expect(201);
    let bare = server.call("POST", "/v1/content", r#"{"author_id":1}"#).expect(201);
    let keys = |item: &serde_json::Value| item.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&item), keys(&bare));
    for key in ["kind", "media", "topics", "broadcast"] {
        assert_eq!(item[key], bare[key], "{key}");
    }
    let relation = server.call("PUT", "/v1/users/1/following/2", r#"{"since":null}"#).expect(200);
    assert!(relation["since"].as_u64().unwrap() > 1_600_000_000_000);
    let batch = r#"{"follow":[3],"unfollow":null}"#;
    assert_eq!(server.call("POST", "/v1/users/1/following/batch", batch).expect(200)["items"][0]["target_id"], "3");
    server.call("POST", "/v1/users/1/following/batch", r#"{"follow":null}"#).problem("none", 400, "invalid_body");
    server.call("POST", "/v1/content", r#"{"author_id":null}"#).problem("author", 400, "invalid_body");
}

#[test]
fn an_edit_of_nothing_changes_nothing() {
    let server = Server::start();
    let item = server.call("POST", "/v1/content", r#"{"author_id":1,"content_id":5,"text":"a"}"#).expect(201);
    assert_eq!(server.call("PATCH", "/v1/content/5", "{}").expect(200), item);
    assert_eq!(server.get("/v1/content/5"), item);
    server.call("PATCH", "/v1/content/6", "{}").problem("missing", 404, "content_not_found");
    assert!(server.call("PATCH", "/v1/content/5", r#"{"text":"a"}"#).expect(200)["edited_at"].is_u64());
}

#[test]
fn what_differs_in_any_digit_or_key_is_another_body() {
    let server = Server::start();
    let publish = |extra: &str| {
        let body = format!(r#"{{"author_id":1,"content_id":5,"extra":{extra}}}"#);
        server.call("POST", "/v1/content", body)
    };
    publish(r#"{"a":12345678901234567890123,"b":"\u0041"}"#).expect(201);
    publish(r#"{ "b": "A", "a": 12345678901234567890123 }"#).expect(200);
    for other in [
        r#"{"a":12345678901234567890124,"b":"A"}"#,
        r#"{"a":1.2345678901234567890123e22,"b":"A"}"#,
        r#"{"$serde_json::private::RawValue":"{\"a\":12345678901234567890123,\"b\":\"A\"}"}"#,
    ] {
        publish(other).problem(other, 409, "content_exists");
    }
}

#[test]
fn deep_json_comes_back_in_lists_that_parse() {
    let server = Server::start();
    let deep = format!("{}1{}", "{\"a\":".repeat(32), "}".repeat(32));
    server.call("POST", "/v1/content", format!(r#"{{"author_id":1,"content_id":5,"extra":{deep}}}"#)).expect(201);
    assert_eq!(server.get("/v1/users/1/content")["items"][0]["extra"].to_string(), deep);
}
