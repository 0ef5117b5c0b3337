//! Lists of sources that a user keeps, each with a timeline of its own.

use serde::{Deserialize, Serialize};

use crate::ids::id::ListId;

/// Most characters of the title of a list.
pub const MAX_TITLE: usize = 200;

/// The settings of a list by its user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListSettings {
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether its members are left out of the home timeline.
    pub exclusive: bool,
}

impl ListSettings {
    /// Settings, or why they cannot be.
    pub fn checked(title: Option<String>, exclusive: bool) -> Result<Self, String> {
        match &title {
            Some(title) if !(1..=MAX_TITLE).contains(&title.chars().count()) => {
                Err(format!("title: expected 1 to {MAX_TITLE} characters"))
            }
            _ => Ok(Self { title, exclusive }),
        }
    }
}

/// A list of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserList {
    /// Its number, which no later list gets.
    pub id: ListId,
    /// Its name among the lists of the user: 1 to 64 characters.
    pub name: String,
    /// The settings by the user.
    pub settings: ListSettings,
}
