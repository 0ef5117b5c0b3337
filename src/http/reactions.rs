//! Likes and favorites: changing them, and the lists that come of them.

use actix_web::rt;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use utoipa::ToSchema;

use super::call::{Answer, Call};
use super::problem::Problem;
use super::query;
use super::reply;
use super::show::{Counts, Member};
use super::timelines;
use crate::clock::now;
use crate::feed::Feed;
use crate::model::{ContentId, Millis, Reaction, ReactionKind, Time, UserId};

/// A reaction as it stands after a change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Reaction)]
pub(super) struct ReactionItem {
    content_id: ContentId,
    user_id: UserId,
    #[schema(value_type = ReactionKind)]
    kind: &'static str,
    active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    since: Option<Millis>,
    counts: Counts,
}

/// `PUT /v1/content/{content_id}/reactions/{kind}/{uid}`
pub(super) async fn put(mut call: Call) -> Answer {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Since {
        #[serde(default)]
        since: Option<Time>,
    }

    let (id, kind, user) = path(&call)?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let Since { since } = if body.bytes.is_empty() { Since::default() } else { body.json()? };
    let since = since.map_or_else(now, |Time(since)| since);
    change(&call, id, Reaction { user, kind, since: Some(since) }).await
}

/// `DELETE /v1/content/{content_id}/reactions/{kind}/{uid}`
pub(super) async fn delete(call: Call) -> Answer {
    let (id, kind, user) = path(&call)?;
    call.no_query()?;
    change(&call, id, Reaction { user, kind, since: None }).await
}

fn path(call: &Call) -> Result<(ContentId, ReactionKind, UserId), Problem> {
    Ok((call.content_id()?, call.reaction()?, call.user()?))
}

/// Joins the lane of the item. Only who leads it takes a thread that may block; the others wait for it
/// as for a socket.
async fn change(call: &Call, id: ContentId, wish: Reaction) -> Answer {
    let (tell, told) = oneshot::channel();
    let told_of = Box::new(move |result| {
        // A caller that is gone needs no answer.
        let _ = tell.send(result);
    });
    if let Some(lead) = call.api.feed().ask_reaction(id, wish, told_of)? {
        let api = call.api.clone();
        // Apart from this request, which is answered after the first write, and may be given up.
        rt::spawn(async move {
            // Where there is no thread for it, the lead is dropped, and tells so itself.
            let lead = move |feed: &Feed| {
                feed.lead(lead);
                Ok::<(), Problem>(())
            };
            let _ = api.change(lead).await;
        });
    }
    let told = call.in_time(told).await?;
    let reacted = told.map_err(|_| Problem::internal("a reaction without an answer"))??;
    reply::ok(&ReactionItem {
        content_id: id,
        user_id: wish.user,
        kind: wish.kind.name(),
        active: reacted.since.is_some(),
        since: reacted.since,
        counts: Counts::from(reacted.counts),
    })
}

/// `GET /v1/content/{content_id}/reactions/{kind}`
pub(super) async fn of_content(call: Call) -> Answer {
    let (id, kind) = (call.content_id()?, call.reaction()?);
    let [limit, before, after] = call.query(["limit", "before", "after"])?;
    let (request, kept) = query::page([limit, before, after])?;
    let page = call.read(move |feed, tier| feed.reactors(id, kind, &request, tier)).await?;
    reply::page(&page.map(|member| Member::new(member, None)), kept)
}

/// `GET /v1/users/{uid}/reactions/{kind}`
pub(super) async fn of_user(call: Call) -> Answer {
    let (user, kind) = (call.user()?, call.reaction()?);
    timelines::list(call, move |feed, request, tier| feed.reacted_by(user, kind, request, tier)).await
}
