//! Operations: `/v1/admin/users/{uid}/timeline/explain`

use serde_json::json;

use super::town::Town;

/// That each reason is the right one is a matter of `tests/promises`.
#[test]
fn explain_says_why_an_item_is_not_there() {
    let mut town = Town::new();
    town.delete(12);
    town.mute(1, 3);
    town.block(4, 2);
    town.put_list(1, "apart", json!({"exclusive": true}));
    town.change_members(1, "apart", &[4], &[]);
    town.follow_by(3, 2, 60, json!({"except": ["post"]}));
    town.suspend(1);
    for (user, id, reason, told) in [
        (1, 10, "listed", "/paths/0/following"),
        (1, 11, "muted", "/muted"),
        (1, 12, "deleted", ""),
        (1, 20, "not_broadcast", ""),
        (1, 99, "no_content", ""),
        (1, 30, "in_exclusive_list", "/paths/0/in_exclusive_list"),
        (2, 11, "not_following", ""),
        (2, 13, "suspended", "/suspended"),
        (3, 10, "ruled_out", "/paths/0/ruled_out"),
        (6, 30, "hidden", "/hidden"),
        (6, 10, "muted", "/paths/0/muted"),
        (4, 10, "blocked", "/blocked"),
        (2, 30, "blocked", "/paths/0/blocked"),
    ] {
        let found = town.server.get(&format!("/v1/admin/users/{user}/timeline/explain?content_id={id}"));
        assert_eq!((&found["user_id"], &found["content_id"]), (&json!(user.to_string()), &json!(id.to_string())));
        assert_eq!((&found["reason"], &found["listed"]), (&json!(reason), &json!(reason == "listed")), "{found}");
        assert!(told.is_empty() || found.pointer(told) == Some(&json!(true)), "{told}: {found}");
    }
}
