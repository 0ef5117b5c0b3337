//! The calls of `http/timelines.rs`.

use serde_json::{Value, json};

use super::call::{Call, Shape, get};
use super::{content, parameters};
use crate::http::show::{Item, ItemId};

/// A page of content, in the form that `view` asks for.
pub(super) fn page_of_content(call: Call) -> Call {
    let page = Shape::of::<Item<'_>>().or(Shape::of::<ItemId>()).page("ContentPage");
    call.query(parameters::page())
        .query([parameters::view()])
        .answers(200, "A page, newest first", page, example())
        .header("Link")
        .leads_to("getContent", &[("content_id", "$response.body#/items/0/content_id")])
}

fn example() -> Value {
    json!({"items": [content::example()], "next": "1689089522000-32850", "prev": "1689089522000-32850"})
}

pub(super) fn calls() -> Vec<Call> {
    let calls = vec![
        page_of_content(get("/v1/users/{uid}/timeline", "getTimeline", "The home timeline"))
            .about(
                "All live broadcast items of those whom the user follows, newest first, exactly, to the very first. \
                 The user counts as active by it.",
            )
            .leads_to("getTimeline", &[("uid", "$request.path.uid"), ("before", "$response.body#/next")]),
        page_of_content(get("/v1/users/{uid}/content", "listUserContent", "The user's own page"))
            .about("All live broadcast items of the user.")
            .leads_to("listUserContent", &[("uid", "$request.path.uid"), ("before", "$response.body#/next")]),
    ];
    calls.into_iter().map(|call| call.tag("timelines")).collect()
}
