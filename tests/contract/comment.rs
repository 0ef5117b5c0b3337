//! `POST` and `GET /v1/content/{content_id}/comments`, `GET /v1/users/{uid}/comments`

use serde_json::json;

use super::town::Town;

#[test]
fn a_comment_is_content_that_is_in_no_timeline_unless_asked_for() {
    let mut town = Town::new();
    for (on, new_item) in [
        (11, json!({"content_id": 40, "author_id": 2, "published_at": 115, "text": "quiet"})),
        (11, json!({"content_id": 41, "author_id": 2, "published_at": 115, "text": "loud", "broadcast": true})),
        (
            20,
            json!({"content_id": 42, "author_id": 6, "published_at": 90, "text": "of a comment", "topics": ["tea"],
            "media": [{"type": "a", "url": "b"}], "extra": {"a": 1}}),
        ),
    ] {
        town.comment(on, new_item.clone());
        town.check(&new_item.to_string());
        let again = town.server.call("POST", &format!("/v1/content/{on}/comments"), new_item.to_string());
        let id = new_item["content_id"].as_u64().unwrap();
        assert_eq!(again.expect(200), town.model.alone(id));
        // A repeat by the call for all content.
        let mut whole = new_item.clone();
        whole["kind"] = json!("comment");
        whole["ref_id"] = json!(on);
        whole["broadcast"] = town.model.alone(id)["broadcast"].clone();
        assert_eq!(town.server.call("POST", "/v1/content", whole.to_string()).expect(200), town.model.alone(id));
        let elsewhere = town.server.call("POST", "/v1/content/10/comments", new_item.to_string());
        elsewhere.problem("another subject", 409, "content_exists");
        let other = new_item.to_string().replace("uiet", "uite").replace("loud", "aloud").replace("of a", "of one");
        let reply = town.server.call("POST", &format!("/v1/content/{on}/comments"), other);
        reply.problem("another body", 409, "content_exists");
        town.check("twice");
    }
    town.comment(12, json!({"author_id": 5, "text": "with an id of the server's"}));
    town.check("made by the server");
}

#[test]
fn a_comment_is_on_what_is_there() {
    let mut town = Town::new();
    let comment = r#"{"author_id":1,"text":"x"}"#;
    town.server.call("POST", "/v1/content/99/comments", comment).problem("never was", 404, "content_not_found");
    town.server.call("GET", "/v1/content/99/comments", "").problem("never was", 404, "content_not_found");
    town.delete(10);
    town.server.call("POST", "/v1/content/10/comments", comment).problem("deleted", 404, "content_not_found");
    town.check("nothing");
}
