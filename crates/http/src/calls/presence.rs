//! `/v1/users/{uid}/presence`: heartbeats, and whether a user is online.

use crate::forward;
use crate::prelude::*;
use feed::events;
use feed::streaming::Online;

endpoints! { "streams":
    /// Whether a user is online
    ///
    /// This call does not mark the user as active. Presence is in memory: after a restart nobody is online until the
    /// next heartbeat or stream. In a cluster the owner of the user keeps the heartbeats, and all nodes ask it; a
    /// stream counts at the node that it is open on. If the owner does not answer, the node that is asked answers
    /// alone.
    get("/v1/users/{uid}/presence", show, "getPresence")
        .for_users(TokenUse::Own)
        .of_owner(OfOwner::Presence)
        .answers::<PresenceBody>(200, "The presence of the user");

    /// Send a heartbeat, or end it
    ///
    /// A user is online for `presence.ttl` after a heartbeat, and while a stream is open.
    put("/v1/users/{uid}/presence", beat, "setPresence")
        .for_users(Act::Presence)
        .of_owner(OfOwner::Presence)
        .takes::<NewPresence>()
        .answers::<PresenceBody>(200, "The presence after the change");
}

#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewPresence {
    /// `true` for a heartbeat, `false` to end it.
    online: bool,
}

answers! {
    /// The presence of a user.
    struct PresenceBody as Presence (user: ExternalId, state: Online) {
        (user_id: ExternalId) = user;
        /// Whether the user has a heartbeat or an open stream.
        (online: bool) = state.is_online();
        /// The end of the heartbeat, if there is one.
        (expires_at?: Millis as Time) = state.until;
    }
}

/// `GET /v1/users/{uid}/presence`
async fn show(call: Call) -> Answer {
    let user = call.user()?;
    let id = user.clone();
    let state = call.read(move |read| Ok(events::presence(read, read.find(&id)?))).await?;
    reply::ok(&PresenceBody::new(user, state))
}

/// `PUT /v1/users/{uid}/presence`
async fn beat(mut call: Call) -> Answer {
    let user = call.user()?;
    let NewPresence { online } = call.json().await?;
    let found =
        if online { call.find_or_give(&user).await? } else { call.read_of(&user, |_, found| Ok(found)).await? };
    // The owner of a user follows from the number.
    if call.api.peers.is_some()
        && let Some(answer) = forward::to_owner(&call, found, reply::encode(&NewPresence { online })?.into()).await
    {
        return Ok(answer);
    }
    let state = call.read(move |read| events::set_presence(read, found, online)).await?;
    reply::ok(&PresenceBody::new(user, state))
}
