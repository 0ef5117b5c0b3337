//! Pages of content: limits, cursors, links, views.

use serde_json::json;

use crate::server::Server;

/// User 1 follows 2 and 3; items 1 to 9 alternate between them, two of each time.
fn nine() -> Server {
    let server = Server::start();
    server.follow(1, 2, 1);
    server.follow(1, 3, 1);
    for id in 1..=9 {
        server.publish(id, 2 + id % 2, 100 + id / 2);
    }
    server
}

#[test]
fn a_page_has_twenty_items_unless_told() {
    let server = Server::start();
    let items: Vec<_> = (1..=120).map(|id| json!({"author_id": 1, "content_id": id, "published_at": id})).collect();
    server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
    server.follow(2, 1, 1);
    for list in ["/v1/users/1/content", "/v1/users/2/timeline"] {
        for (query, count) in [("", 20), ("?limit=1", 1), ("?limit=100", 100)] {
            assert_eq!(server.ids(&format!("{list}{query}")).len(), count);
        }
        assert_eq!(server.ids(&format!("{list}?limit=100&before=21-21")).len(), 20);
    }
}

#[test]
fn an_empty_page_still_says_where_it_stands() {
    let server = nine();
    let newest = server.get("/v1/users/1/timeline?after=104-9");
    assert_eq!(newest, json!({"items": [], "next": "104-10", "prev": "104-9"}));
    assert_eq!(server.ids("/v1/users/1/timeline?before=104-10&limit=2"), [9, 8]);
    let oldest = server.get("/v1/users/1/timeline?before=100-1");
    assert_eq!(oldest, json!({"items": [], "next": null, "prev": "99-9223372036854775807"}));
    assert_eq!(server.ids("/v1/users/1/timeline?after=99-9223372036854775807&limit=2"), [2, 1]);
    let below = server.get("/v1/users/1/timeline?after=5-5&before=6-6");
    assert_eq!(below, json!({"items": [], "next": null, "prev": "5-5"}));
    assert_eq!(server.get("/v1/users/1/following?before=1-2")["prev"], "1-1");
    assert_eq!(server.get("/v1/users/1/following?after=1-3")["next"], "1-4");
    server.publish(10, 2, 105);
    assert_eq!(server.ids("/v1/users/1/timeline?after=104-9"), [10]);
}

#[test]
fn head_is_get_without_the_body() {
    let server = nine();
    for path in ["/v1/users/1/timeline?limit=2", "/v1/content/3", "/healthz"] {
        let (get, head) = (server.call("GET", path, ""), server.call("HEAD", path, ""));
        assert_eq!(head.status, 200);
        assert!(head.bytes.is_empty());
        assert_eq!(head.header("content-length"), Some(get.bytes.len().to_string().as_str()));
        assert_eq!(head.header("link"), get.header("link"));
    }
    assert_eq!(server.call("HEAD", "/v1/content/99", "").status, 404);
}
