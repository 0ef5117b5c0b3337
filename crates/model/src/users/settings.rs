//! Settings that a user chooses.

use serde::{Deserialize, Serialize};

use crate::Audience;

/// The settings of a user; the default without any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserSettings {
    /// Whether a follow of the user is a request until the user approves it.
    pub approve_followers: bool,
    /// The audience of an item that names none.
    #[serde(default, skip_serializing_if = "Audience::is_public")]
    pub default_audience: Audience,
}
