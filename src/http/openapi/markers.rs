//! The calls of `http/markers.rs`.

use serde_json::json;

use super::call::{Call, Shape, get, put};
use super::schemas;
use crate::error::Code;
use crate::http::show::{MarkerBody, UnreadBody};

pub(super) fn calls() -> Vec<Call> {
    let marker = || Shape::of::<MarkerBody>();
    let example = json!({"cursor": "1689089522000-32850"});
    let new =
        schemas::closed().property("cursor", schemas::text(&schemas::cursor_pattern())).required("cursor").build();
    let calls =
        vec![
        get("/v1/users/{uid}/timeline/unread", "getUnread", "How many items are newer than the marker")
            .about("Counts no further than 1,000; `capped` says that there are more. Without a marker, all are unread.")
            .answers(200, "The count", Shape::of::<UnreadBody>(), json!({"count": 3, "capped": false})),
        get("/v1/users/{uid}/marker", "getMarker", "How far the user has read")
            .answers(200, "The marker; `null` where there is none", marker(), example.clone()),
        put("/v1/users/{uid}/marker", "moveMarker", "Move the marker")
            .about(
                "It moves forward only: a cursor at or below it changes nothing. A cursor ahead of the server's clock \
                 counts as at the newest item up to there. A cursor whose time lies further ahead than \
                 `content.max_ahead`, and at which no item stands, is 400 `time_ahead`.",
            )
            .body(Shape::named("NewMarker", new), example.clone())
            .answers(200, "The marker after the change", marker(), example)
            .problem(Code::TimeAhead)
            .leads_to("getMarker", &[("uid", "$request.path.uid")])
            .leads_to("getUnread", &[("uid", "$request.path.uid")]),
    ];
    calls.into_iter().map(|call| call.tag("timelines")).collect()
}
