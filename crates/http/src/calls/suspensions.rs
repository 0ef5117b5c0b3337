//! `/v1/users/{uid}/suspension`.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::relations::USER;
use crate::call::Call;
use crate::endpoint::{Endpoint, delete, get, group, put};
use crate::pools::Wants;
use crate::wire::body::Nothing;
use crate::wire::reply;
use crate::wire::reply::Answer;
use feed::{Feed, SetSuspension, users};
use model::{HostId, Millis, Time};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let path = "/v1/users/{uid}/suspension";
    let state = |call: Endpoint, about, example: Value| call.answers::<Suspension>(200, about, example);
    let there = || json!({"user_id": "111", "suspended": true, "since": 1_689_089_522_000_u64});
    let after = "The state after the change";
    let calls = [
        state(get(path, show, "getSuspension", "Whether a user is suspended"), "The state", there()),
        state(put(path, suspend, "suspend", "Suspend a user"), after, there())
            .about(
                "No user sees an item of the user from the answer on, nor the user among those who reacted. Follows \
                 and counts stay. Items that the user publishes meanwhile are taken, and no user sees them.",
            )
            .takes_nothing()
            .leads_to("unsuspend", USER)
            .leads_to("getSuspension", USER),
        state(
            delete(path, unsuspend, "unsuspend", "Take a suspension back"),
            after,
            json!({"user_id": "111", "suspended": false}),
        )
        .about("All items of the user are shown again, at their old places."),
    ];
    group("users", calls)
}

/// Whether a user is suspended, and since when.
#[derive(Debug, Serialize, ToSchema)]
struct Suspension {
    user_id: HostId,
    suspended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    since: Option<Millis>,
}

impl Suspension {
    fn answer(user_id: HostId, since: Option<Millis>) -> Answer {
        reply::ok(&Self { user_id, suspended: since.is_some(), since })
    }
}

/// `GET /v1/users/{uid}/suspension`
pub(crate) async fn show(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let since = call.read_of(&user, users::suspended_since).await?;
    Suspension::answer(user, since)
}

/// `PUT /v1/users/{uid}/suspension`
pub(crate) async fn suspend(mut call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let Nothing {} = call.json_or_default().await?;
    set(call, user, true).await
}

/// `DELETE /v1/users/{uid}/suspension`
pub(crate) async fn unsuspend(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    set(call, user, false).await
}

async fn set(call: Call, user: HostId, suspended: bool) -> Answer {
    let id = user.clone();
    let since = call.run(Wants::Change, move |feed: &Feed| feed.submit(SetSuspension { user: id, suspended })).await?;
    Suspension::answer(user, since)
}
