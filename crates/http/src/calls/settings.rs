//! `/v1/users/{uid}/settings`

use crate::prelude::*;
use feed::{PutSettings, users};
use model::{Audience, UserSettings};

endpoints! { "users":
    /// The settings of a user
    get("/v1/users/{uid}/settings", show, "getSettings")
        .for_users(TokenUse::Own)
        .answers::<SettingsBody>(200, "The settings");

    /// Set the settings of a user
    ///
    /// The body replaces all settings: a missing field has its default afterwards. If `approve_followers` is switched
    /// off, requests that wait stay until they are answered.
    put("/v1/users/{uid}/settings", replace, "putSettings")
        .takes::<UserSettings>()
        .answers::<SettingsBody>(200, "The settings after the change")
        .leads_to(&["getSettings"], &[("uid", "$request.path.uid")]);
}

answers! {
    /// The settings of a user.
    struct SettingsBody as Settings (settings: UserSettings) {
        /// Whether a follow of the user is a request until the user approves it.
        (approve_followers: bool) = settings.approve_followers;
        /// The `audience` of items of the user that name none.
        (default_audience: Audience) = settings.default_audience;
    }
}

/// `GET /v1/users/{uid}/settings`
async fn show(call: Call) -> Answer {
    let settings = call.read_of(&call.user()?, users::settings).await?;
    reply::ok(&SettingsBody::new(settings))
}

/// `PUT /v1/users/{uid}/settings`
async fn replace(mut call: Call) -> Answer {
    let user = call.user()?;
    let settings: UserSettings = call.json().await?;
    call.submit(PutSettings { user, settings }).await?;
    reply::ok(&SettingsBody::new(settings))
}
