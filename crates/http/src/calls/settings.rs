//! `/v1/users/{uid}/settings`

use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::call::Call;
use crate::endpoint::{self, Endpoint, get, group};
use crate::guards::auth::TokenUse;
use crate::pools::Wants;
use crate::wire::reply;
use crate::wire::reply::Answer;
use feed::{Feed, PutSettings, users};
use model::{Audience, UserSettings, or_default};

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let settings = json!({"approve_followers": true, "default_audience": "public"});
    let calls = [
        get("/v1/users/{uid}/settings", show, "getSettings", "The settings of a user")
            .for_users(TokenUse::Own)
            .answers::<SettingsBody>(200, "The settings", settings.clone()),
        endpoint::put("/v1/users/{uid}/settings", put, "putSettings", "Set the settings of a user")
            .about(
                "The body replaces all settings: a missing field has its default afterwards. If `approve_followers` is \
                 switched off, requests that wait stay until they are answered.",
            )
            .takes::<NewSettings>(settings.clone())
            .answers::<SettingsBody>(200, "The settings after the change", settings)
            .leads_to("getSettings", &[("uid", "$request.path.uid")]),
    ];
    group("users", calls)
}

/// All settings: a missing field has its default afterwards.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSettings {
    /// Whether a follow of the user is a request until the user approves it. Default: `false`
    #[serde(default, deserialize_with = "or_default")]
    approve_followers: bool,
    /// The `audience` of items of the user that name none. Default: `public`
    #[serde(default, deserialize_with = "or_default")]
    default_audience: Audience,
}

/// The settings of a user.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Settings)]
struct SettingsBody {
    /// Whether a follow of the user is a request until the user approves it.
    approve_followers: bool,
    /// The `audience` of items of the user that name none.
    default_audience: Audience,
}

impl From<UserSettings> for SettingsBody {
    fn from(UserSettings { approve_followers, default_audience }: UserSettings) -> Self {
        Self { approve_followers, default_audience }
    }
}

/// `GET /v1/users/{uid}/settings`
pub(crate) async fn show(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    reply::ok(&SettingsBody::from(call.read_of(&user, users::settings).await?))
}

/// `PUT /v1/users/{uid}/settings`
pub(crate) async fn put(mut call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let NewSettings { approve_followers, default_audience } = call.json().await?;
    let settings = UserSettings { approve_followers, default_audience };
    call.run(Wants::Change, move |feed: &Feed| feed.submit(PutSettings { user, settings })).await?;
    reply::ok(&SettingsBody::from(settings))
}
