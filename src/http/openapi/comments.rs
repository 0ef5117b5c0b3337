//! The calls of `http/comments.rs`.

use serde_json::json;

use super::call::{Call, Shape, get, post};
use super::timelines;
use crate::error::Code;
use crate::http::show::Item;
use crate::model::CommentDraft;

const BY_ID: &[(&str, &str)] = &[("content_id", "$response.body#/content_id")];
const BY_AUTHOR: &[(&str, &str)] = &[("uid", "$response.body#/author_id")];
const BY_SUBJECT: &[(&str, &str)] = &[("content_id", "$response.body#/ref_id")];

pub(super) fn calls() -> Vec<Call> {
    let comment = json!({
        "content_id": "32851", "author_id": "111", "published_at": 1_689_089_600_000_u64, "kind": "comment",
        "text": "See you there", "media": [], "topics": [], "ref_id": "32850", "broadcast": false,
        "counts": {"likes": 0, "favorites": 0, "comments": 0, "reposts": 0}
    });
    let calls = vec![
        post("/v1/content/{content_id}/comments", "comment", "Comment on an item")
            .about(
                "An item of the kind `comment` whose `ref_id` is this one. It may be edited, deleted, restored, liked \
                 and commented on like any other, and is in no timeline unless it is broadcast.",
            )
            .body(Shape::of::<CommentDraft>(), json!({"author_id": "111", "text": "See you there"}))
            .answers(201, "Published", Shape::of::<Item<'_>>(), comment.clone())
            .answers(200, "It was published before, just like this", Shape::of::<Item<'_>>(), comment)
            .header("Location")
            .problem(Code::TimeAhead)
            .problem(Code::ContentNotFound)
            .problem(Code::ContentExists)
            .leads_to("getContent", BY_ID)
            .leads_to("deleteContent", BY_ID)
            .leads_to("listComments", BY_SUBJECT)
            .leads_to("listUserComments", BY_AUTHOR),
        timelines::page_of_content(get("/v1/content/{content_id}/comments", "listComments", "The comments on an item"))
            .problem(Code::ContentNotFound),
        timelines::page_of_content(get("/v1/users/{uid}/comments", "listUserComments", "The comments a user made")),
    ];
    calls.into_iter().map(|call| call.tag("content")).collect()
}
