//! `/v1/users/{uid}/marker` and what is unread since.

use serde::Deserialize;

use super::call::{Answer, Call};
use super::reply;
use super::show::{MarkerBody, UnreadBody};
use crate::model::Cursor;

/// `GET /v1/users/{uid}/marker`
pub(super) async fn show(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let cursor = call.read(move |feed, tier| feed.marker(user, tier)).await?;
    reply::ok(&MarkerBody { cursor })
}

/// `PUT /v1/users/{uid}/marker`
pub(super) async fn advance(mut call: Call) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Marker {
        cursor: Cursor,
    }

    let user = call.user()?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let Marker { cursor } = body.json()?;
    let cursor = call.change(move |feed| feed.move_marker(user, cursor)).await?;
    reply::ok(&MarkerBody { cursor: Some(cursor) })
}

/// `GET /v1/users/{uid}/timeline/unread`
pub(super) async fn unread(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let unread = call.read(move |feed, tier| feed.unread(user, tier)).await?;
    reply::ok(&UnreadBody::from(unread))
}
