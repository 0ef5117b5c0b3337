//! The calls of `http/reactions.rs`.

use serde_json::json;

use super::call::{Call, Shape, delete, get, put};
use super::{relations, schemas, timelines};
use crate::error::Code;
use crate::http::reactions::ReactionItem;

/// What leads from a reaction to the calls about it.
const THIS: &[(&str, &str)] = &[
    ("content_id", "$response.body#/content_id"),
    ("kind", "$response.body#/kind"),
    ("uid", "$response.body#/user_id"),
];

pub(super) fn calls() -> Vec<Call> {
    let reaction = || Shape::of::<ReactionItem>();
    let since = json!({"since": 1_689_089_522_000_u64});
    let counts = json!({"likes": 1, "favorites": 0, "comments": 0, "reposts": 0});
    let there = json!({
        "content_id": "32850", "user_id": "111", "kind": "like", "active": true, "since": 1_689_089_522_000_u64,
        "counts": counts
    });
    let calls = vec![
        put("/v1/content/{content_id}/reactions/{kind}/{uid}", "react", "Like an item, or make it a favorite")
            .about("Counted once a user; doing it again changes nothing.")
            .optional_body(schemas::since(), since)
            .answers(200, "The reaction after the change", reaction(), there.clone())
            .problem(Code::TimeAhead)
            .problem(Code::ContentNotFound)
            .leads_to("unreact", THIS)
            .leads_to("listReactions", &THIS[..2])
            .leads_to("listUserReactions", &THIS[1..]),
        delete("/v1/content/{content_id}/reactions/{kind}/{uid}", "unreact", "Take a reaction back")
            .answers(200, "The reaction after the change", reaction(), there)
            .problem(Code::ContentNotFound)
            .leads_to("react", THIS),
        relations::page_of_users(get("/v1/content/{content_id}/reactions/{kind}", "listReactions", "Who reacted"))
            .problem(Code::ContentNotFound),
        timelines::page_of_content(get(
            "/v1/users/{uid}/reactions/{kind}",
            "listUserReactions",
            "To what a user reacted",
        ))
        .about("Ordered by when the items were published."),
    ];
    calls.into_iter().map(|call| call.tag("reactions")).collect()
}
