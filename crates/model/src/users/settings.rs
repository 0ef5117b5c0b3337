//! Settings that a user chooses.

use serde::{Deserialize, Serialize};

use utoipa::ToSchema;

use crate::{Audience, or_default};

/// All settings: a missing field has its default afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewSettings)]
pub struct UserSettings {
    /// Whether a follow of the user is a request until the user approves it. Default: `false`
    #[serde(default, deserialize_with = "or_default")]
    pub approve_followers: bool,
    /// The `audience` of items of the user that name none. Default: `public`
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Audience::is_public")]
    pub default_audience: Audience,
}
