//! Requests to follow users who approve their followers: list, approve, reject.

use super::relations::{USER, own_list};
use super::show::RelationItem;
use crate::call::Call;
use crate::endpoint::{Endpoint, delete, group, put};
use crate::pools::Wants;
use crate::wire::body::Nothing;
use crate::wire::reply;
use crate::wire::reply::Answer;
use config::Act;
use feed::{Feed, follows, ids};
use model::Side;
use model::error::{Code, Result};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let change = |call: Endpoint| {
        let about = "The relation of `uid` to `from` after the change";
        call.for_users(Act::Requests)
            .answers::<RelationItem>(200, about, RelationItem::example())
            .leads_to("listFollowRequests", USER)
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
            .leads_to("listFollowers", USER),
        change(delete(path, |call| answer(call, false), "rejectFollower", "Reject a request to follow"))
            .about("`from` is not told, and may ask again. A follow stays."),
    ];
    group("relations", calls)
}

async fn answer(mut call: Call, approved: bool) -> Answer {
    let (user, from) = (call.user()?, call.id("from")?);
    call.no_query()?;
    if approved {
        let Nothing {} = call.json_or_default().await?;
    }
    let sight = call.sight();
    let answer = move |feed: &Feed| -> Result<_> {
        ids::may_name(feed, &user, [&from], sight)?;
        let relation = follows::answer_request(feed, &user, &from, approved)?;
        RelationItem::new(feed.read(), user, from, relation)
    };
    reply::ok(&call.run(Wants::Change, answer).await?)
}
