//! `GET /v1/content/{content_id}`, `GET /v1/content?ids=`

use serde_json::{Value, json};

use super::town::Town;

#[test]
fn an_item_is_shown_whole() {
    let town = Town::new();
    assert_eq!(
        town.server.get("/v1/content/11"),
        json!({"content_id": "11", "author_id": "3", "published_at": 110, "kind": "post", "text": "eleven",
            "media": [], "topics": ["rust", "tea"], "broadcast": true, "to": [], "audience": "public",
            "counts": {"comments": 0, "reposts": 0, "reactions": {}}})
    );
    let counted = town.server.get("/v1/content/10");
    assert_eq!(counted["counts"], json!({"comments": 2, "reposts": 1, "reactions": {"like": 2, "favorite": 1}}));
    town.server.call("GET", "/v1/content/99", "").problem("missing", 404, "content_not_found");
}

#[test]
fn many_come_in_the_order_asked_for_without_the_missing() {
    let mut town = Town::new();
    town.delete(12);
    let found = town.server.get("/v1/content?ids=30,99,12,10,20,10");
    let wanted: Vec<Value> = [30, 10, 20].iter().map(|id| town.model.listed(*id)).collect();
    assert_eq!(found, json!({ "items": wanted }));
    assert_eq!(
        found["items"][1]["author"],
        json!({"user_id": "2", "nickname": "Ann", "avatar": "https://a.example/ann.png"}),
        "a summary, and no more of the profile"
    );
    assert_eq!(found["items"][2]["author"], json!({"user_id": "3", "nickname": "Bob", "avatar": null}));
    let hundred: Vec<String> = (10..110).map(|id| id.to_string()).collect();
    let found = town.server.get(&format!("/v1/content?ids={}", hundred.join(",")));
    assert_eq!(crate::server::ids(&found), [10, 11, 13, 20, 21, 30]);
    let short = town.server.get("/v1/content?ids=20%2C12,10&view=ids");
    assert_eq!(
        short["items"],
        json!([{"content_id": "20", "author_id": "3", "published_at": 130},
            {"content_id": "10", "author_id": "2", "published_at": 100}])
    );
}
