//! Publishing, reading, editing and deleting content.

use serde_json::json;

use crate::server::Server;

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
        "ref_id": "12", "extra": {"b": 100.0, "a": [null]}, "broadcast": false, "to": [], "audience": "public",
        "counts": {"comments": 0, "reposts": 0, "reactions": {}},
    });
    assert_eq!(reply.expect(201), expected);
    for untouched in [r#""media":[{"type":"image","url":"/a.png", "w":1.50}]"#, r#""extra":{"b": 1e2 ,"a":[null]}"#] {
        assert!(reply.text().contains(untouched), "{}", reply.text());
    }
    assert_eq!(server.get("/v1/content/9007199254740993"), expected);
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
    let longest: Vec<_> = (0..1000).map(|n| format!("{n:x>128}")).collect();
    let all = server.call("POST", "/v1/users/2/following/batch", serde_json::json!({ "follow": longest }).to_string());
    assert_eq!(all.expect(200)["items"].as_array().unwrap().len(), 1000, "the longest ids");
    server.call("POST", "/v1/content", r#"{"author_id":null}"#).problem("author", 400, "invalid_body");
}

#[test]
fn a_body_that_differs_in_a_digit_or_key_is_another_body() {
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
