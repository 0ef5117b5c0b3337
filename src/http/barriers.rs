//! Mutes and hidden-from: raising them, lifting them, and their lists.

use serde::Deserialize;

use super::call::{Answer, Call};
use super::query;
use super::reply;
use super::show::{Member, RelationItem};
use crate::model::{Barrier, Side};

/// `PUT /v1/users/{uid}/mutes/{target}`
pub(super) async fn mute(call: Call) -> Answer {
    raise(call, Barrier::Mute).await
}

/// `DELETE /v1/users/{uid}/mutes/{target}`
pub(super) async fn unmute(call: Call) -> Answer {
    lift(call, Barrier::Mute).await
}

/// `GET /v1/users/{uid}/mutes`
pub(super) async fn muted(call: Call) -> Answer {
    list(call, Side::Muted).await
}

/// `PUT /v1/users/{uid}/hidden-from/{target}`
pub(super) async fn hide(call: Call) -> Answer {
    raise(call, Barrier::Hide).await
}

/// `DELETE /v1/users/{uid}/hidden-from/{target}`
pub(super) async fn unhide(call: Call) -> Answer {
    lift(call, Barrier::Hide).await
}

/// `GET /v1/users/{uid}/hidden-from`
pub(super) async fn hidden_from(call: Call) -> Answer {
    list(call, Side::HiddenFrom).await
}

async fn raise(mut call: Call, barrier: Barrier) -> Answer {
    /// There is nothing to say beside the path.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    let (user, target) = (call.user()?, call.target()?);
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    if !body.bytes.is_empty() {
        let Nothing {} = body.json()?;
    }
    let relation = call.change(move |feed| feed.set_barrier(user, target, barrier, true)).await?;
    reply::ok(&RelationItem::from(relation))
}

async fn lift(call: Call, barrier: Barrier) -> Answer {
    let (user, target) = (call.user()?, call.target()?);
    call.no_query()?;
    let relation = call.change(move |feed| feed.set_barrier(user, target, barrier, false)).await?;
    reply::ok(&RelationItem::from(relation))
}

async fn list(call: Call, side: Side) -> Answer {
    let user = call.user()?;
    let (request, kept) = query::page(call.query(["limit", "before", "after"])?)?;
    let page = call.read(move |feed, tier| feed.members(user, side, &request, tier)).await?;
    reply::page(&page.map(|member| Member::new(member, None)), kept)
}
