//! `/v1/users/{uid}/suspension`.

use super::relations::USER;
use crate::prelude::*;
use feed::{SetSuspension, users};

endpoints! { "users":
    let path = "/v1/users/{uid}/suspension";

    /// Whether a user is suspended
    get(path, show, "getSuspension").answers::<Suspension>(200, "The state");

    /// Suspend a user
    ///
    /// No user sees an item of the user from the answer on, nor the user among those who reacted. Follows and counts
    /// stay. Items that the user publishes meanwhile are taken, and no user sees them.
    put(path, |call| set(call, true), "suspend")
        .answers::<Suspension>(200, "The state after the change")
        .takes_nothing()
        .leads_to(&["unsuspend", "getSuspension"], USER);

    /// Take a suspension back
    ///
    /// All items of the user are shown again, at their old places.
    delete(path, |call| set(call, false), "unsuspend")
        .answers::<Suspension>(200, "The state after the change")
        .shows("Suspension/none");
}

answers! {
    /// Whether a user is suspended, and since when.
    struct Suspension (user: ExternalId, since: Option<Millis>) {
        (user_id: ExternalId) = user;
        (suspended: bool) = since.is_some();
        (since?: Millis as Time) = since;
    }
}

/// `GET /v1/users/{uid}/suspension`
async fn show(call: Call) -> Answer {
    let user = call.user()?;
    let since = call.read_of(&user, users::suspended_since).await?;
    reply::ok(&Suspension::new(user, since))
}

/// `PUT` and `DELETE /v1/users/{uid}/suspension`
async fn set(mut call: Call, suspended: bool) -> Answer {
    let user = call.user()?;
    call.empty_body().await?;
    let since = call.submit(SetSuspension { user: user.clone(), suspended }).await?;
    reply::ok(&Suspension::new(user, since))
}
