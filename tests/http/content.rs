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
fn deep_json_comes_back_in_lists_that_parse() {
    let server = Server::start();
    let deep = format!("{}1{}", "{\"a\":".repeat(32), "}".repeat(32));
    server.call("POST", "/v1/content", format!(r#"{{"author_id":1,"content_id":5,"extra":{deep}}}"#)).expect(201);
    assert_eq!(server.get("/v1/users/1/content")["items"][0]["extra"].to_string(), deep);
}
