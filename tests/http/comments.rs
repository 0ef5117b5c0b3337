//! Comments on content, by item and by user.

use serde_json::{Value, json};

use crate::server::{Server, ids};

/// Item 1 by user 2, followed by 3, with the comments 10 and 11 by the users 4 and 5.
fn commented() -> Server {
    let server = Server::start();
    server.follow(3, 2, 1);
    server.follow(3, 4, 1);
    server.publish(1, 2, 100);
    for (id, author, at) in [(10, 4, 200), (11, 5, 200)] {
        comment(&server, 1, id, author, at).expect(201);
    }
    server
}

fn comment(server: &Server, subject: u64, id: u64, author: u64, at: u64) -> crate::server::Reply {
    let body = format!(r#"{{"content_id":{id},"author_id":{author},"published_at":{at},"text":"comment {id}"}}"#);
    server.call("POST", &format!("/v1/content/{subject}/comments"), body)
}

#[test]
fn a_comment_is_content_that_points_at_its_item() {
    let server = Server::start();
    server.publish(1, 2, 100);
    let body = r#"{"author_id":"4","content_id":10,"published_at":200,"text":"hi","media":[{"type":"i","url":"u"}],
        "topics":["t"],"extra":{"a":1},"broadcast":null}"#;
    let reply = server.call("POST", "/v1/content/1/comments", body);
    assert_eq!(reply.header("location"), Some("../10"));
    let made = reply.expect(201);
    for (name, value) in [
        ("content_id", json!("10")),
        ("author_id", json!("4")),
        ("kind", json!("comment")),
        ("ref_id", json!("1")),
        ("text", json!("hi")),
        ("media", json!([{"type": "i", "url": "u"}])),
        ("topics", json!(["t"])),
        ("extra", json!({"a": 1})),
        ("broadcast", json!(false)),
    ] {
        assert_eq!(made[name], value, "{name}");
    }
    assert_eq!(server.get("/v1/content/10"), made);
    let without_id = server.call("POST", "/v1/content/1/comments", r#"{"author_id":4}"#).expect(201);
    assert_eq!(server.ids("/v1/content/1/comments").len(), 2);
    assert!(without_id["published_at"].as_u64().unwrap() > 1_600_000_000_000);
}

#[test]
fn a_repeated_comment_is_the_same_or_a_conflict() {
    let server = commented();
    assert_eq!(comment(&server, 1, 10, 4, 200).expect(200), server.get("/v1/content/10"));
    for (subject, author, at) in [(1, 5, 200), (1, 4, 201), (11, 4, 200)] {
        comment(&server, subject, 10, author, at).problem("another", 409, "content_exists");
    }
    // The same by the general call.
    let body = r#"{"content_id":10,"author_id":4,"published_at":200,"text":"comment 10","kind":"comment","ref_id":1,
        "broadcast":false}"#;
    server.call("POST", "/v1/content", body).expect(200);
    assert_eq!(server.ids("/v1/content/1/comments"), [11, 10]);
}

#[test]
fn what_is_not_there_has_no_comments() {
    let server = commented();
    let gone =
        |path: &str, body: &str, method: &str| server.call(method, path, body).problem(path, 404, "content_not_found");
    gone("/v1/content/99/comments", "", "GET");
    gone("/v1/content/99/comments", r#"{"author_id":4}"#, "POST");
    server.call("DELETE", "/v1/content/1", "");
    gone("/v1/content/1/comments", "", "GET");
    gone("/v1/content/1/comments", r#"{"author_id":4}"#, "POST");
    // They stay what they are, by themselves.
    assert_eq!(
        (server.ids("/v1/users/4/comments"), server.get("/v1/content/10")["ref_id"].clone()),
        (vec![10], json!("1"))
    );
}

#[test]
fn a_comment_is_in_timelines_only_if_asked_for() {
    let server = commented();
    assert_eq!(server.ids("/v1/users/3/timeline"), [1]);
    assert!(server.ids("/v1/users/4/content").is_empty());
    let body = r#"{"author_id":4,"content_id":12,"published_at":300,"broadcast":true}"#;
    server.call("POST", "/v1/content/1/comments", body).expect(201);
    assert_eq!((server.ids("/v1/users/3/timeline"), server.ids("/v1/users/4/content")), (vec![12, 1], vec![12]));
    assert_eq!(server.ids("/v1/content/1/comments"), [12, 11, 10]);
}

#[test]
fn a_deleted_comment_is_gone_from_both_lists() {
    let server = commented();
    assert_eq!(server.call("DELETE", "/v1/content/10", "").status, 204);
    assert_eq!((server.ids("/v1/content/1/comments"), server.ids("/v1/users/4/comments")), (vec![11], vec![]));
}

#[test]
fn both_lists_are_paged_like_any_other() {
    let server = Server::start();
    server.publish(1, 2, 100);
    for id in 11..=19 {
        comment(&server, 1, id, 4, 100 + id / 2).expect(201);
    }
    for list in ["/v1/content/1/comments", "/v1/users/4/comments"] {
        let page = server.get(&format!("{list}?limit=4"));
        assert_eq!(
            (ids(&page), &page["next"], &page["prev"]),
            (vec![19, 18, 17, 16], &json!("108-16"), &json!("109-19"))
        );
        assert_eq!(page["items"][0]["author"]["user_id"], "4");
        let page = server.get(&format!("{list}?limit=4&before=108-16&view=ids"));
        assert_eq!((ids(&page), &page["next"]), (vec![15, 14, 13, 12], &json!("106-12")));
        assert_eq!(page["items"][0], json!({"content_id": "15", "author_id": "4", "published_at": 107}));
        let last = server.get(&format!("{list}?before=106-12"));
        assert_eq!((ids(&last), &last["next"]), (vec![11], &Value::Null));
        assert_eq!(server.ids(&format!("{list}?limit=2&after=105-11")), [13, 12]);
    }
}

#[test]
fn the_fields_that_make_a_comment_are_not_asked_for() {
    let server = commented();
    for bad in [
        r#"{"author_id":4,"kind":"comment"}"#,
        r#"{"author_id":4,"ref_id":1}"#,
        r#"{"text":"x"}"#,
        r#"{"author_id":4,"broadcast":1}"#,
        r#"{"author_id":4,"author_id":4}"#,
    ] {
        server.call("POST", "/v1/content/1/comments", bad).problem(bad, 400, "invalid_body");
    }
    assert_eq!(server.ids("/v1/content/1/comments"), [11, 10]);
}
