//! The calls of `http/timelines.rs`.

use serde_json::{Value, json};

use super::call::{Call, Shape, get};
use super::{content, parameters};
use crate::http::show::Item;

/// A page of content, in the form that `view` asks for.
pub(super) fn page_of_content(call: Call) -> Call {
    page_like(call, content::example())
}

fn page_like(call: Call, item: Value) -> Call {
    let example = json!({"items": [item], "next": "1689089522000-32850", "prev": "1689089522000-32850"});
    let page = Shape::of::<Item<'_>>().page("ContentPage");
    call.query(parameters::page())
        .query([parameters::view()])
        .answers(200, "A page, newest first", page, example)
        .header("Link")
        .leads_to("getContent", &[("content_id", "$response.body#/items/0/content_id")])
}

pub(super) fn calls() -> Vec<Call> {
    let mut viewed = content::example();
    viewed["viewer"] = json!({"liked": true, "favorited": false});
    let calls = vec![
        page_like(get("/v1/users/{uid}/timeline", "getTimeline", "The home timeline"), viewed)
            .about(
                "All live broadcast items of those whom the user follows, newest first, exactly, to the very first. \
                 The user counts as active by it. Each item has what the user did with it, as `viewer`.",
            )
            .leads_to("getTimeline", &[("uid", "$request.path.uid"), ("before", "$response.body#/next")]),
        page_of_content(get("/v1/users/{uid}/content", "listUserContent", "The user's own page"))
            .about("All live broadcast items of the user.")
            .leads_to("listUserContent", &[("uid", "$request.path.uid"), ("before", "$response.body#/next")]),
        page_of_content(get("/v1/topics/{topic}/content", "listTopicContent", "The newest items that name a topic"))
            .about("Broadcast or not; the newest `topics.limit` of them."),
    ];
    calls.into_iter().map(|call| call.tag("timelines")).collect()
}
