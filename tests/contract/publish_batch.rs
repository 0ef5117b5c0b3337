//! `POST /v1/content/batch`

use serde_json::{Value, json};

use super::town::Town;

fn three() -> [Value; 3] {
    [
        json!({"content_id": 40, "author_id": 2, "published_at": 115, "topics": ["tea"]}),
        json!({"content_id": 41, "author_id": 4, "published_at": 116, "kind": "repost", "ref_id": 40}),
        json!({"content_id": 42, "author_id": 3, "published_at": 117, "kind": "comment", "ref_id": 40, "broadcast": false}),
    ]
}

#[test]
fn a_batch_is_in_every_list_as_if_published_one_by_one() {
    let mut town = Town::new();
    town.publish_all(&three());
    town.check("a batch");
    let again = town.server.call("POST", "/v1/content/batch", json!({ "items": three() }).to_string()).expect(200);
    let wanted: Vec<Value> = [40, 41, 42].iter().map(|id| town.model.alone(*id)).collect();
    assert_eq!(again, json!({ "items": wanted }));
    town.check("the same batch again");
    let first = json!({"content_id": 43, "author_id": 2, "published_at": 118});
    let partly = json!({ "items": [three()[0], first] }).to_string();
    let partly = town.server.call("POST", "/v1/content/batch", partly).expect(201);
    assert_eq!(crate::server::ids(&partly), [40, 43], "one of them new");
}

#[test]
fn all_or_none() {
    let town = Town::new();
    let good = json!({"author_id": 2, "content_id": 40});
    for (bad, status, code) in [
        (json!({"author_id": 2, "content_id": 10}), 409, "content_exists"),
        (json!({"author_id": 0}), 400, "invalid_body"),
        (json!({"author_id": 2, "likes": 1}), 400, "invalid_body"),
        (good.clone(), 400, "invalid_body"),
        (json!({"author_id": 2, "text": "x".repeat(65_536)}), 413, "body_too_large"),
    ] {
        let body = json!({ "items": [good, bad] }).to_string();
        town.server.call("POST", "/v1/content/batch", body).problem(code, status, code);
    }
    for count in [0, 1001] {
        let items: Vec<Value> = (0..count).map(|n| json!({"author_id": 2, "content_id": 1000 + n})).collect();
        let body = json!({ "items": items }).to_string();
        town.server.call("POST", "/v1/content/batch", body).problem("count", 400, "invalid_body");
    }
    town.check("none");
}
