//! `GET /v1/topics/{topic}/content`

use serde_json::{Value, json};

use super::town::Town;

#[test]
fn a_topic_shows_what_names_it() {
    let mut town = Town::new();
    assert_eq!(town.server.ids("/v1/topics/rust/content"), [30, 11, 10]);
    assert_eq!(town.server.ids("/v1/topics/tea/content"), [21, 11]);
    assert_eq!(town.server.get("/v1/topics/Rust/content"), json!({"items": [], "next": null, "prev": null}));
    town.publish(
        json!({"content_id": 40, "author_id": 6, "published_at": 105, "topics": ["tea", "tea"], "broadcast": false}),
    );
    town.check("named twice, and not broadcast");
}

#[test]
fn a_topic_is_as_deep_as_its_limit() {
    let town = Town::empty(&[("TIDELINE__TOPICS__LIMIT", "10")]);
    for first in (1..=100).step_by(25) {
        let post = |n: u64| json!({"author_id": 1, "content_id": n, "published_at": n, "topics": ["t"]});
        let items: Vec<Value> = (first..first + 25).map(post).collect();
        town.server.call("POST", "/v1/content/batch", json!({ "items": items }).to_string()).expect(201);
    }
    let newest: Vec<u64> = (91..=100).rev().collect();
    assert_eq!(town.server.ids("/v1/topics/t/content?limit=100"), newest);
    assert_eq!(town.server.get("/v1/topics/t/content?limit=100")["next"], Value::Null);
    let page = town.server.get("/v1/topics/t/content?limit=7");
    assert_eq!(page["next"], "94-94");
    assert_eq!(town.server.ids("/v1/topics/t/content?limit=7&before=94-94"), [93, 92, 91]);
    assert_eq!(town.server.get("/v1/topics/t/content?limit=7&before=94-94")["next"], Value::Null);
    assert_eq!(town.server.ids("/v1/topics/t/content?after=5-5&limit=3"), [93, 92, 91]);
    assert_eq!(town.server.ids("/v1/users/1/content?limit=100").len(), 100);
    // After any number of deletes the list has the newest remaining items. A restored item is in its place.
    let newest = |server: &crate::server::Server, below: u64| {
        let shown: Vec<u64> = (1..below).rev().take(10).collect();
        assert_eq!(server.ids("/v1/topics/t/content?limit=100"), shown, "below {below}");
    };
    for n in (4..=100).rev() {
        assert_eq!(town.server.call("DELETE", &format!("/v1/content/{n}"), "").status, 204);
        if n % 12 == 0 || n < 14 {
            newest(&town.server, n);
        }
    }
    town.server.call("POST", "/v1/content/50/restore", "").expect(200);
    assert_eq!(town.server.ids("/v1/topics/t/content?limit=100"), [50, 3, 2, 1]);
}
