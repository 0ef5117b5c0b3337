//! The calls of `http/barriers.rs`.

use super::call::{Call, Shape, delete, get, put};
use super::relations::{BOTH, USER, example, page_of_users};
use crate::error::Code;
use crate::http::show::RelationItem;

/// A change that has nothing to say beside its path, and answers with the relation.
fn change(call: Call) -> Call {
    call.answers(200, "The relation after the change", Shape::of::<RelationItem>(), example())
}

pub(super) fn calls() -> Vec<Call> {
    let calls = vec![
        change(put("/v1/users/{uid}/mutes/{target}", "mute", "Do not show me this user's content"))
            .problem(Code::SelfMute)
            .problem(Code::MuteLimit)
            .leads_to("unmute", BOTH)
            .leads_to("listMutes", USER)
            .leads_to("getTimeline", USER),
        change(delete("/v1/users/{uid}/mutes/{target}", "unmute", "Show it again"))
            .about("All of it is back in the timeline, at its old place.")
            .leads_to("mute", BOTH),
        page_of_users(get("/v1/users/{uid}/mutes", "listMutes", "Those whom the user has muted")),
        change(put("/v1/users/{uid}/hidden-from/{target}", "hide", "Do not show my content to this user"))
            .problem(Code::SelfHide)
            .problem(Code::HideLimit)
            .leads_to("unhide", BOTH)
            .leads_to("listHiddenFrom", USER),
        change(delete("/v1/users/{uid}/hidden-from/{target}", "unhide", "Show it again to this user"))
            .leads_to("hide", BOTH),
        page_of_users(get(
            "/v1/users/{uid}/hidden-from",
            "listHiddenFrom",
            "Those from whom the user hides its content",
        )),
    ];
    calls.into_iter().map(|call| call.tag("relations")).collect()
}
