//! `GET /v1/users/{uid}/relations?targets=`

use serde_json::{Value, json};

use super::town::Town;

#[test]
fn each_target_once_in_the_order_asked_for() {
    let mut town = Town::new();
    town.mute(1, 3);
    town.hide(1, 3);
    town.hide(3, 1);
    town.mute(5, 1);
    for user in 1..=6 {
        let found = town.server.get(&format!("/v1/users/{user}/relations?targets=6,3,2,3,1,99"));
        let wanted: Vec<Value> = [6, 3, 2, 1, 99].iter().map(|target| town.model.relation(user, *target)).collect();
        assert_eq!(found, json!({ "items": wanted }));
    }
    assert_eq!(
        town.server.get("/v1/users/1/relations?targets=3")["items"][0],
        json!({"user_id": "1", "target_id": "3", "relation": "following", "since": 20, "muted": true, "hidden": true,
            "blocked": false, "requested": false})
    );
    let hundred = |count: u64| (1..=count).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
    let found = town.server.get(&format!("/v1/users/1/relations?targets={}", hundred(100)));
    assert_eq!(found["items"].as_array().unwrap().len(), 100);
    let many = format!("/v1/users/1/relations?targets={}", hundred(101));
    town.server.call("GET", &many, "").problem("101", 400, "invalid_parameter");
}
