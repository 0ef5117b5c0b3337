//! Lists of topics.

use serde_json::{Value, json};

use crate::server::{Server, ids, run};

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

#[test]
fn a_list_ends_at_its_limit_and_never_before() {
    const LIMIT: u64 = 20;
    let server = Server::with(&[
        ("TIDELINE__TOPICS__LIMIT", "20"),
        ("TIDELINE__STORAGE__WRITE_BUFFER_MB", "8"),
        ("TIDELINE__STORAGE__DURABILITY", "os"),
    ]);
    let batch = |ids: std::ops::RangeInclusive<u64>| {
        let item = |id| json!({"content_id": id, "author_id": 1, "published_at": id, "topics": ["a"]});
        let items: Vec<_> = ids.map(item).collect();
        server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
    };
    // The newest `LIMIT` up to `newest`, by pages in both directions.
    let check = |newest: u64, gone: &[u64]| {
        let live = (1..=newest).rev().filter(|id| !gone.contains(id));
        let expected: Vec<u64> = live.take(LIMIT as usize).collect();
        let (mut down, mut from) = (Vec::new(), String::new());
        loop {
            let page = server.get(&format!("/v1/topics/a/content?view=ids&limit=7{from}"));
            down.extend(ids(&page));
            let Value::String(next) = &page["next"] else { break };
            from = format!("&before={next}");
        }
        assert_eq!(down, expected);
        let up = server.get("/v1/topics/a/content?view=ids&limit=3&after=0-1");
        assert_eq!((ids(&up), &up["next"]), (expected[expected.len() - 3..].to_vec(), &Value::Null));
    };
    batch(1..=19);
    check(19, &[]);
    batch(20..=21);
    check(21, &[]);
    batch(22..=56);
    check(56, &[]);
    server.call("DELETE", "/v1/content/50", "");
    check(56, &[50]);
    server
        .call("POST", "/v1/content", r#"{"content_id":100,"author_id":1,"published_at":1,"topics":["a"]}"#)
        .expect(201);
    check(56, &[50]);
    batch(101..=900);
    assert_eq!(server.ids("/v1/topics/a/content?limit=100"), (881..=900).rev().collect::<Vec<_>>());
    assert_eq!(server.figure("tideline_topic_rows_archived_total"), 0.0);
    let (status, data) = server.stop("TERM");
    assert!(status.success());
    let limit = [("TIDELINE__TOPICS__LIMIT", "20")];
    run(&["compact"], &data, &limit);
    let server = Server::on(data, &limit);
    assert_eq!(server.ids("/v1/topics/a/content?limit=100"), (881..=900).rev().collect::<Vec<_>>());
    let rows = |server: &Server| server.figure("tideline_table_rows{table=\"topic_content\"}");
    assert!(rows(&server) < 100.0, "{} rows are left", rows(&server));
    // Deletes as many rows as a trim leaves above the limit, then all that it leaves, then rows of the archive.
    for (newest, oldest) in [(884, 885), (800, 801), (30, 31)] {
        for id in oldest..=900 {
            server.call("DELETE", &format!("/v1/content/{id}"), "");
        }
        let shown: Vec<u64> = (1..=newest).rev().filter(|id| *id != 50 && (*id <= 56 || *id > 100)).take(20).collect();
        assert_eq!(server.ids("/v1/topics/a/content?limit=100"), shown, "{newest}");
        let up = server.get("/v1/topics/a/content?view=ids&limit=3&after=0-1");
        assert_eq!((ids(&up), &up["next"]), (shown[17..].to_vec(), &Value::Null));
        let middle = server.get(&format!("/v1/topics/a/content?view=ids&limit=3&before={0}-{0}", shown[14]));
        assert_eq!(ids(&middle), shown[15..18]);
    }
}
