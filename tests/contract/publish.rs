//! `POST /v1/content`

use serde_json::json;

use super::town::Town;

#[test]
fn a_post_comes_into_every_list_at_its_place() {
    let mut town = Town::new();
    town.check("before");
    let new_item = json!({"content_id": 40, "author_id": 2, "published_at": 115, "text": "late",
        "topics": ["tea", "rust"], "extra": {"a": {"b": 1}}, "media": [{"type": "video", "url": "u", "w": 3}]});
    town.publish(new_item.clone());
    town.check("published");
    let again = town.server.call("POST", "/v1/content", new_item.to_string());
    assert_eq!(again.header("location"), Some("content/40"));
    assert_eq!(again.expect(200), town.model.alone(40));
    let other = new_item.to_string().replace("late", "later");
    town.server.call("POST", "/v1/content", other).problem("another body", 409, "content_exists");
    town.check("published twice");
}

#[test]
fn comments_and_reposts_count_at_their_item() {
    let mut town = Town::new();
    for new_item in [
        json!({"content_id": 40, "author_id": 5, "published_at": 115, "kind": "repost", "ref_id": 11}),
        json!({"content_id": 41, "author_id": 2, "published_at": 115, "kind": "repost", "ref_id": 11, "broadcast": false}),
        json!({"content_id": 42, "author_id": 2, "published_at": 115, "kind": "comment", "ref_id": 11}),
        json!({"content_id": 43, "author_id": 2, "published_at": 115, "kind": "reply", "ref_id": 11}),
        json!({"content_id": 44, "author_id": 2, "published_at": 115, "kind": "comment"}),
        json!({"content_id": 45, "author_id": 2, "published_at": 115, "kind": "repost", "ref_id": 45}),
    ] {
        town.publish(new_item.clone());
        town.check(&new_item.to_string());
        town.server.call("POST", "/v1/content", new_item.to_string()).expect(200);
        town.check("twice");
    }
}

#[test]
fn counts_are_there_before_what_they_count_points_at() {
    let mut town = Town::new();
    town.publish(json!({"content_id": 40, "author_id": 5, "kind": "repost", "ref_id": 50}));
    town.publish(json!({"content_id": 41, "author_id": 5, "kind": "comment", "ref_id": 50}));
    town.publish(json!({"content_id": 50, "author_id": 2, "text": "the original comes late"}));
    town.check("the original came last");
    assert_eq!(town.server.get("/v1/content/50")["counts"]["reposts"], 1);
}

#[test]
fn without_an_id_or_a_time_the_server_makes_both() {
    let mut town = Town::new();
    let first = town.publish(json!({"author_id": 2}));
    let second = town.publish(json!({"author_id": 2}));
    assert!(first < second && second < 1 << 63);
    town.check("made");
}

#[test]
fn the_limits_of_every_field_are_those_of_the_contract() {
    let mut town = Town::new();
    let topics: Vec<String> = (0..10).map(|n| format!("{}{n}", "ü".repeat(63))).collect();
    town.publish(json!({"content_id": (1_u64 << 63) - 1, "author_id": (1_u64 << 63) - 1, "topics": topics,
        "kind": "a".repeat(32), "published_at": 0, "ref_id": (1_u64 << 63) - 1}));
    town.model.users.insert((1 << 63) - 1);
    town.check("the largest");
}
