//! Settings and keys in force, and user tokens for tests.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::prelude::*;
use config::{Key, KeyRole};
use model::JsonObject;

/// How long a token lasts by default and at most.
const USUAL: Duration = Duration::from_secs(3600);
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Characters of a hash that the server log has of a key, too: `sha256:` and 12 digits.
const SHORT: usize = 19;
const HASH: &str = "sha256:";

endpoints! { "operations", of_this_server:
    /// The settings in force
    ///
    /// Each section with its settings, without keys and secrets, as `tideline config` prints them.
    get("/v1/admin/settings", show_settings, "getServerSettings")
        .not_for_read_keys()
        .answers::<ServerSettings>(200, "The settings by their sections")
        .never_waits();

    /// List the keys in force
    ///
    /// Those of the settings and of the files that they name, by role and name.
    get("/v1/admin/keys", list_keys, "listKeys")
        .not_for_read_keys()
        .answers_items::<KeyBody>(200, "KeyList", "All keys")
        .never_waits();

    /// Make a user token for a test
    ///
    /// The server signs it with the first secret of `auth.jwt_secrets`.
    post("/v1/admin/tokens", make_token, "makeToken")
        .takes::<NewToken>()
        .answers::<TokenBody>(201, "The token")
        .refuses(&[Code::NoTokenSecret]);
}

/// The settings of a server by their sections.
#[derive(Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = HashMap<String, JsonObject>)]
struct ServerSettings(Map<String, Value>);

answers! {
    /// A key, without the key itself.
    struct KeyBody as Key (role: KeyRole, key: Key) {
        /// `full`, `read` or `metrics`.
        (role: &'static str) = role.as_str();
        /// The beginning of its hash, as the server log names the key.
        (hash: String) = key.hash.to_string().chars().take(SHORT).collect();
        /// The name behind the key in its list.
        (name?: String) = key.name.as_deref().map(str::to_owned);
    }
}

/// A token to make.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewToken {
    /// The user of the token.
    user_id: ExternalId,
    /// How long it lasts, seconds: up to a day. Default: an hour
    expires_in: Option<u64>,
}

answers! {
    /// A user token.
    struct TokenBody as Token {
        token: String,
        /// When it ends.
        expires_at: Millis as Time,
    }
}

/// `GET /v1/admin/settings`
async fn show_settings(call: Call) -> Answer {
    match serde_json::to_value(call.api.config()) {
        Ok(Value::Object(mut sections)) => {
            sections.values_mut().for_each(hide_secrets);
            reply::ok(&ServerSettings(sections))
        }
        other => Err(Error::Setup(format!("settings are no object: {other:?}"))),
    }
}

/// Cuts what other calls do not show either: the query of the address of a receiver, and the end of the hash of a key.
fn hide_secrets(value: &mut Value) {
    match value {
        Value::String(text) => {
            if text.starts_with(HASH) {
                let end = text.find(' ').unwrap_or(text.len());
                text.replace_range(SHORT.min(end)..end, "");
            } else if let Some(query) = text.find('?').filter(|_| text.contains("://")) {
                text.truncate(query);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(hide_secrets),
        Value::Object(fields) => fields.values_mut().for_each(hide_secrets),
        _ => {}
    }
}

/// `GET /v1/admin/keys`
async fn list_keys(call: Call) -> Answer {
    let items: Vec<_> = call.api.admission.gate.keys().into_iter().map(|(role, key)| KeyBody::new(role, key)).collect();
    reply::items(&items)
}

/// `POST /v1/admin/tokens`
async fn make_token(mut call: Call) -> Answer {
    let NewToken { user_id, expires_in } = call.json().await?;
    let lasts = expires_in.map_or(USUAL, Duration::from_secs);
    if !(Duration::from_secs(1)..=LONGEST).contains(&lasts) {
        return Err(invalid_body("expires_in: expected 1 to 86400 seconds"));
    }
    let (token, until) = call.api.admission.gate.sign(&user_id, lasts).ok_or(Code::NoTokenSecret)?;
    reply::with(StatusCode::CREATED, &TokenBody { token, expires_at: until * 1000 })
}
