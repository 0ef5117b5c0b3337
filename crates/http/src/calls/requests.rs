//! Requests to follow users who approve their followers: list, approve, reject.

use super::objects::RelationItem;
use super::relations::{USER, list, own_list, relate};
use crate::prelude::*;
use feed::follows;
use model::Side;

endpoints! { "relations":
    let change = |call: Endpoint| {
        let about = "The relation of `uid` to `from` after the change";
        call.for_users(Act::Requests)
            .answers::<RelationItem>(200, about)
            .leads_to(&["listFollowRequests"], USER)
    };
    let path = "/v1/users/{uid}/follow-requests/{from}";

    /// The users who have asked to follow a user
    get("/v1/users/{uid}/follow-requests", |call| list(call, Side::FollowRequests), "listFollowRequests").with(own_list);

    /// The users whom a user has asked to follow
    get("/v1/users/{uid}/sent-requests", |call| list(call, Side::SentRequests), "listSentRequests").with(own_list);

    /// Approve a request to follow
    ///
    /// `from` follows `uid` from now on. For a follower it changes nothing.
    put(path, |call| answer(call, true), "approveFollower")
        .with(change)
        .takes_nothing()
        .refuses(&[Code::RequestNotFound])
        .leads_to(&["listFollowers"], USER);

    /// Reject a request to follow
    ///
    /// `from` is not told, and may ask again. A follow stays.
    delete(path, |call| answer(call, false), "rejectFollower").with(change);
}

async fn answer(mut call: Call, approved: bool) -> Answer {
    call.empty_body().await?;
    relate(&call, "from", move |feed, user, from| follows::answer_request(feed, &user, &from, approved)).await
}
