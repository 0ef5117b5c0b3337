//! `/v1/users/{uid}/presence`: heartbeats, and whether a user is online.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::call::{Answer, Call};
use super::reply;
use crate::clock::now;
use crate::live::Online;
use crate::model::{Millis, Time, UserId};

/// How a user is online.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Presence)]
pub(super) struct PresenceBody {
    user_id: UserId,
    /// With a heartbeat or an open stream.
    online: bool,
    /// When the heartbeat runs out, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    expires_at: Option<Millis>,
}

impl PresenceBody {
    fn new(user_id: UserId, state: Online) -> Self {
        Self { user_id, online: state.is_online(), expires_at: state.until }
    }
}

/// `GET /v1/users/{uid}/presence`
pub(super) async fn show(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    reply::ok(&PresenceBody::new(user, call.api.feed().live().presence().of(user, now())))
}

/// `PUT /v1/users/{uid}/presence`
pub(super) async fn beat(mut call: Call) -> Answer {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Beat {
        online: bool,
    }

    let user = call.user()?;
    call.no_query()?;
    let body = call.body(call.api.body_limit).await?;
    let Beat { online } = body.json()?;
    let state = call.read(move |feed, tier| feed.set_presence(user, online, tier)).await?;
    reply::ok(&PresenceBody::new(user, state))
}
