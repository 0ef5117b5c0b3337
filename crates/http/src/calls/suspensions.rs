//! `/v1/users/{uid}/suspension`.

use serde_json::Value;

use super::prelude::*;
use super::relations::USER;
use crate::wire::body::Nothing;
use feed::{SetSuspension, users};
use model::{HostId, Millis, Time};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let path = "/v1/users/{uid}/suspension";
    let state = |call: Endpoint, about, example: Value| call.answers::<Suspension>(200, about, example);
    let there = || json!({"user_id": "111", "suspended": true, "since": 1_689_089_522_000_u64});
    let not_there = json!({"user_id": "111", "suspended": false});
    let after = "The state after the change";
    let calls = [
        state(get(path, show, "getSuspension", "Whether a user is suspended"), "The state", there()),
        state(put(path, |call| set(call, true), "suspend", "Suspend a user"), after, there())
            .about(
                "No user sees an item of the user from the answer on, nor the user among those who reacted. Follows \
                 and counts stay. Items that the user publishes meanwhile are taken, and no user sees them.",
            )
            .takes_nothing()
            .leads_to(&["unsuspend", "getSuspension"], USER),
        state(delete(path, |call| set(call, false), "unsuspend", "Take a suspension back"), after, not_there)
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
async fn show(call: Call) -> Answer {
    let user = call.user()?;
    let since = call.read_of(&user, users::suspended_since).await?;
    Suspension::answer(user, since)
}

/// `PUT` and `DELETE /v1/users/{uid}/suspension`
async fn set(mut call: Call, suspended: bool) -> Answer {
    let user = call.user()?;
    if suspended {
        let Nothing {} = call.json().await?;
    }
    let since = call.submit(SetSuspension { user: user.clone(), suspended }).await?;
    Suspension::answer(user, since)
}
