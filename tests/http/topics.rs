//! Lists of topics.

use serde_json::json;

use crate::server::{Server, ids};

fn publish(server: &Server, id: u64, at: u64, topics: &[&str]) {
    let body = json!({"content_id": id, "author_id": id % 3 + 1, "published_at": at, "topics": topics});
    server.call("POST", "/v1/content", body.to_string()).expect(201);
}

/// A topic as a part of a path, with everything escaped.
fn escaped(topic: &str) -> String {
    topic.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn any_characters_name_a_topic() {
    let server = Server::start();
    let topics = [
        "a/b", "/", "100%", "%2F", "%41", "a+b", "a b", " ", "🌊 é", "..", ".", "?#", "\n\u{0}", "batch", "\"<>\\",
        "content", "&=;",
    ];
    for (id, topic) in (1..).zip(topics) {
        publish(&server, id, id, &[topic]);
    }
    let long = "é".repeat(64);
    publish(&server, 90, 90, &[&long]);
    for (id, topic) in (1..).zip(topics).chain([(90, long.as_str())]) {
        let path = format!("/v1/topics/{}/content", escaped(topic));
        let reply = server.call("GET", &path, "");
        assert_eq!(ids(&reply.expect(200)), [id], "{topic:?}");
        let link = format!("<?after={id}-{id}>; rel=\"prev\"");
        assert_eq!(reply.header("link"), Some(link.as_str()), "{topic:?}");
    }
    for (path, id) in [("a+b", 6), ("a%2fb", 1), ("%61%2Bb", 6), ("100%25", 3), ("%252F", 4), ("&=;", 17), ("a%20b", 7)]
    {
        assert_eq!(server.ids(&format!("/v1/topics/{path}/content")), [id], "{path}");
    }
    // The whole path may be escaped.
    assert_eq!(server.ids("/v1/%74opics/a%2Bb/conten%74"), [6]);
}

#[test]
fn invalid_topics_are_refused() {
    let server = Server::start();
    let long = escaped(&"é".repeat(65));
    for bad in ["", "%", "%2", "a%zz", "%ff", "a%c3", "%ed%a0%80", long.as_str(), &"a".repeat(65), &"%41".repeat(300)] {
        let path = format!("/v1/topics/{bad}/content");
        server.call("GET", &path, "").problem(&path, 400, "invalid_topic");
    }
    for path in ["/v1/topics/a/b/content", "/v1/topics/content", "/v1/topics/a", "/v1/topics"] {
        server.call("GET", path, "").problem(path, 404, "route_not_found");
    }
}
