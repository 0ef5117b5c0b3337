//! Requests to follow users who approve their followers: list, approve, reject.

use super::prelude::*;
use super::relations::{USER, own_list, relate};
use super::show::RelationItem;
use crate::wire::body::Nothing;
use feed::follows;
use model::Side;

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let change = |call: Endpoint| {
        let about = "The relation of `uid` to `from` after the change";
        call.for_users(Act::Requests)
            .answers::<RelationItem>(200, about, RelationItem::example())
            .leads_to(&["listFollowRequests"], USER)
    };
    let path = "/v1/users/{uid}/follow-requests/{from}";
    let calls = [
        own_list(
            "/v1/users/{uid}/follow-requests",
            Side::FollowRequests,
            "listFollowRequests",
            "The users who have asked to follow a user",
        ),
        own_list(
            "/v1/users/{uid}/sent-requests",
            Side::SentRequests,
            "listSentRequests",
            "The users whom a user has asked to follow",
        ),
        change(put(path, |call| answer(call, true), "approveFollower", "Approve a request to follow"))
            .about("`from` follows `uid` from now on. For a follower it changes nothing.")
            .takes_nothing()
            .refuses(&[Code::RequestNotFound])
            .leads_to(&["listFollowers"], USER),
        change(delete(path, |call| answer(call, false), "rejectFollower", "Reject a request to follow"))
            .about("`from` is not told, and may ask again. A follow stays."),
    ];
    group("relations", calls)
}

async fn answer(mut call: Call, approved: bool) -> Answer {
    if approved {
        let Nothing {} = call.json().await?;
    }
    relate(&call, "from", move |feed, user, from| follows::answer_request(feed, &user, &from, approved)).await
}
