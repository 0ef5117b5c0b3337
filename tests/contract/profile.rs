//! `GET` and `PUT /v1/users/{uid}`

use serde_json::json;

use super::town::Town;

#[test]
fn a_profile_is_replaced_whole_and_shows_in_every_author_card() {
    let mut town = Town::new();
    for profile in [
        json!({"nickname": "Änne", "avatar": "https://a/b.png", "extra": {"a": [1, {"b": null}]}}),
        json!({"avatar": "/only.png"}),
        json!({"nickname": null, "avatar": null, "extra": null}),
        json!({"nickname": "Ann"}),
        json!({}),
    ] {
        for user in [2, 4] {
            town.profile(user, profile.clone());
            town.check(&format!("{user}: {profile}"));
            town.profile(user, profile.clone());
            town.check(&format!("{user} again: {profile}"));
        }
    }
}

#[test]
fn any_id_is_a_user() {
    let town = Town::new();
    for user in ["99", "9223372036854775807"] {
        assert_eq!(
            town.server.get(&format!("/v1/users/{user}")),
            json!({"user_id": user, "nickname": null, "avatar": null, "extra": null,
                "counts": {"following": 0, "followers": 0, "friends": 0, "content": 0}})
        );
    }
    assert_eq!(
        town.server.get("/v1/users/2"),
        json!({"user_id": "2", "nickname": "Ann", "avatar": "/ann.png", "extra": {"city": "Bonn"},
            "counts": {"following": 1, "followers": 4, "friends": 1, "content": 2}})
    );
}

#[test]
fn what_is_no_profile_changes_none() {
    let town = Town::new();
    for bad in [
        r#"{"nickname":1}"#,
        r#"{"avatar":[]}"#,
        r#"{"extra":"x"}"#,
        r#"{"extra":[]}"#,
        r#"{"extra":{"a":1,"a":2}}"#,
        r#"{"user_id":"2"}"#,
        r#"{"counts":{}}"#,
    ] {
        town.server.call("PUT", "/v1/users/2", bad).problem(bad, 400, "invalid_body");
    }
    town.check("refused");
}
