//! `/v1/users/{uid}`: profiles with their counts.

use super::call::{Answer, Call};
use super::reply;
use super::show::ProfileBody;
use crate::model::ProfileDraft;

/// `GET /v1/users/{uid}`
pub(super) async fn show(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let (profile, counts) = call.read(move |feed, tier| feed.user(user, tier)).await?;
    reply::ok(&ProfileBody::new(user, &profile, counts)?)
}

/// `PUT /v1/users/{uid}`
pub(super) async fn put(mut call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let draft: ProfileDraft = body.json()?;
    let (profile, counts) = call.change(move |feed| feed.put_profile(user, draft.into())).await?;
    reply::ok(&ProfileBody::new(user, &profile, counts)?)
}
