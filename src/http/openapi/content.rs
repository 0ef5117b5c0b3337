//! The calls of `http/content.rs`.

use serde_json::{Value, json};
use utoipa::openapi::Ref;
use utoipa::openapi::schema::ArrayBuilder;

use super::call::{Call, Shape, delete, get, patch, post};
use super::{parameters, schemas};
use crate::error::Code;
use crate::http::content::MAX_BATCH;
use crate::http::show::Item;
use crate::model::{Draft, EditDraft};

/// What leads from an item to the calls about it.
const BY_ID: &[(&str, &str)] = &[("content_id", "$response.body#/content_id")];
const PATH: &[(&str, &str)] = &[("content_id", "$request.path.content_id")];
const BY_AUTHOR: &[(&str, &str)] = &[("uid", "$response.body#/author_id")];

/// An item as lists show it.
pub(super) fn example() -> Value {
    json!({
        "content_id": "32850", "author_id": "200", "published_at": 1_689_089_522_000_u64, "kind": "post",
        "text": "Low tide at noon", "media": [{"type": "image", "url": "https://example.org/tide.jpg"}],
        "topics": ["sea"], "broadcast": true, "counts": {"likes": 12, "favorites": 1, "comments": 3, "reposts": 0},
        "author": {"user_id": "200", "nickname": "Ebba", "avatar": null}
    })
}

fn alone() -> Value {
    let mut item = example();
    if let Some(fields) = item.as_object_mut() {
        fields.remove("author");
    }
    item
}

pub(super) fn calls() -> Vec<Call> {
    let new_content = Ref::from_schema_name("NewContent");
    let batch = ArrayBuilder::new().items(new_content).min_items(Some(1)).max_items(Some(MAX_BATCH));
    let batch = schemas::closed().property("items", batch).required("items").build();
    let new = json!({
        "author_id": "200", "text": "Low tide at noon", "topics": ["sea"],
        "media": [{"type": "image", "url": "https://example.org/tide.jpg"}]
    });
    let items = || Shape::of::<Item<'_>>().items("ContentList");
    let calls = vec![
        post("/v1/content", "publishContent", "Publish an item")
            .about(
                "The same `content_id` with the same body again is 200 and changes nothing; with another body it is \
                 409. An item with an old `published_at` takes its place in time.",
            )
            .body(Shape::of::<Draft>(), new.clone())
            .answers(201, "Published", Shape::of::<Item<'_>>(), alone())
            .answers(200, "It was published before, just like this", Shape::of::<Item<'_>>(), alone())
            .header("Location")
            .problem(Code::TimeAhead)
            .problem(Code::ContentExists)
            .leads_to("getContent", BY_ID)
            .leads_to("editContent", BY_ID)
            .leads_to("deleteContent", BY_ID)
            .leads_to("react", BY_ID)
            .leads_to("listReactions", BY_ID)
            .leads_to("comment", BY_ID)
            .leads_to("listUserContent", BY_AUTHOR)
            .leads_to("listFollowers", BY_AUTHOR),
        post("/v1/content/batch", "publishContentBatch", "Publish up to 1,000 items, all or none")
            .about("In one change. The body may have 256 times as many bytes as that of a single publish.")
            .body(Shape::named("NewContentList", batch), json!({"items": [new]}))
            .answers(201, "Published; some may have been before", items(), json!({"items": [alone()]}))
            .answers(200, "All were published before, just like this", items(), json!({"items": [alone()]}))
            .problem(Code::TimeAhead)
            .problem(Code::ContentExists)
            .leads_to("getContent", &[("content_id", "$response.body#/items/0/content_id")]),
        get("/v1/content", "listContent", "Up to 100 items by their ids")
            .about("In the order of the ids. Missing ones are left out.")
            .query([
                parameters::ids("ids", "Which: up to 100 ids with commas between them", "32850,50015"),
                parameters::view(),
            ])
            .answers(200, "Those that there are", items(), json!({"items": [example()]})),
        get("/v1/content/{content_id}", "getContent", "One item")
            .answers(200, "The item", Shape::of::<Item<'_>>(), alone())
            .problem(Code::ContentNotFound),
        patch("/v1/content/{content_id}", "editContent", "Change an item")
            .about("What is left out stays, `null` clears. The item gains `edited_at`.")
            .body(Shape::of::<EditDraft>(), json!({"text": "Low tide at one"}))
            .answers(200, "The item after the change", Shape::of::<Item<'_>>(), alone())
            .problem(Code::ContentNotFound)
            .leads_to("deleteContent", BY_ID),
        delete("/v1/content/{content_id}", "deleteContent", "Delete an item")
            .about(
                "It is gone from every list at once, and can be restored for `content.deleted_retention`. A second \
                 delete is 404.",
            )
            .answers_nothing("Deleted")
            .problem(Code::ContentNotFound)
            .leads_to("restoreContent", PATH),
        post("/v1/content/{content_id}/restore", "restoreContent", "Take a delete back")
            .about(
                "It is in every list again, at its old place, with its reactions and comments. Of an item that is live \
                 the same answer; 404 if it was deleted longer ago than `content.deleted_retention`.",
            )
            .answers(200, "The item", Shape::of::<Item<'_>>(), alone())
            .problem(Code::ContentNotFound)
            .leads_to("getContent", BY_ID)
            .leads_to("deleteContent", BY_ID),
    ];
    calls.into_iter().map(|call| call.tag("content")).collect()
}
