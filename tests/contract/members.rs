//! `GET /v1/users/{uid}/following`, `/followers`, `/friends`

use serde_json::{Value, json};

use super::town::Town;

fn with_viewer(town: &Town, list: &str, viewer: u64) -> Value {
    let bare = town.server.get(list);
    let mut items = bare["items"].as_array().unwrap().clone();
    for item in &mut items {
        let user = item["user_id"].as_str().unwrap().parse().unwrap();
        item["relation"] = town.model.relation(viewer, user)["relation"].clone();
    }
    json!(items)
}

#[test]
fn a_viewer_sees_its_relation_to_each() {
    let town = Town::new();
    for user in 1..=6 {
        for list in ["following", "followers", "friends"] {
            let path = format!("/v1/users/{user}/{list}");
            for viewer in [1, 2, 6, 99] {
                let found = town.server.get(&format!("{path}?viewer={viewer}"));
                assert_eq!(found["items"], with_viewer(&town, &path, viewer), "{path} {viewer}");
            }
        }
    }
    let page = town.server.call("GET", "/v1/users/2/followers?viewer=1&limit=2&before=90-1", "");
    let links = "<?limit=2&viewer=1&before=60-3>; rel=\"next\", <?limit=2&viewer=1&after=80-6>; rel=\"prev\"";
    assert_eq!(page.header("link"), Some(links));
    let found = town.server.get("/v1/users/2/followers?viewer=1");
    assert_eq!(
        found["items"],
        json!([{"user_id": "6", "since": 80, "relation": "none"}, {"user_id": "3", "since": 60, "relation": "following"},
            {"user_id": "5", "since": 50, "relation": "none"}, {"user_id": "1", "since": 10, "relation": "none"}])
    );
}
