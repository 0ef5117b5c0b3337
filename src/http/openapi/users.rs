//! The calls of `http/users.rs`.

use serde_json::json;

use super::call::{Call, Shape, get, put};
use super::relations::USER;
use crate::http::show::ProfileBody;
use crate::model::ProfileDraft;

pub(super) fn calls() -> Vec<Call> {
    let profile = || Shape::of::<ProfileBody<'_>>();
    let new = json!({"nickname": "Ebba", "avatar": "https://example.org/ebba.jpg", "extra": {"town": "Husum"}});
    let example = json!({
        "user_id": "111", "nickname": "Ebba", "avatar": "https://example.org/ebba.jpg", "extra": {"town": "Husum"},
        "counts": {"following": 5, "followers": 2, "friends": 1, "content": 12}
    });
    let calls = vec![
        get("/v1/users/{uid}", "getUser", "A user's profile and counts")
            .about("Any id is a user: what was never set is `null`.")
            .answers(200, "The profile", profile(), example.clone()),
        put("/v1/users/{uid}", "putUser", "Set a user's profile")
            .about("The whole of it.")
            .body(Shape::of::<ProfileDraft>(), new)
            .answers(200, "The profile after the change", profile(), example)
            .leads_to("getUser", USER),
    ];
    calls.into_iter().map(|call| call.tag("users")).collect()
}
