//! Likes and favorites.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::counts::{ItemCounter, ItemCounts};
use crate::ids::id::UserId;
use crate::ids::position::{Millis, UserCursor};

/// The kind of a reaction. A user has each at most once for an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReactionKind {
    /// Everybody sees who likes what.
    Like,
    /// Kept for later.
    Favorite,
}

impl ReactionKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Like, Self::Favorite];

    /// The name in the API.
    #[inline]
    pub fn name(self) -> &'static str {
        match self {
            Self::Like => "like",
            Self::Favorite => "favorite",
        }
    }

    /// The kind with this name.
    #[inline]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its counter.
    #[inline]
    pub fn counter(self) -> ItemCounter {
        match self {
            Self::Like => ItemCounter::Likes,
            Self::Favorite => ItemCounter::Favorites,
        }
    }
}

impl FromStr for ReactionKind {
    type Err = &'static str;
    #[inline]
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::named(name).ok_or("expected like or favorite")
    }
}

/// A requested change of a user's reaction to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaction {
    /// The user.
    pub user: UserId,
    /// The kind.
    pub kind: ReactionKind,
    /// Time of the reaction; `None` to remove it.
    pub since: Option<Millis>,
}

/// A place among all reactions to an item in the order of their purge: by kind, each newest first.
pub type ReactionPlace = (ReactionKind, UserCursor);

/// The result of a [`Reaction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reacted {
    /// Time of the reaction, if it exists.
    pub since: Option<Millis>,
    /// Whether this is new.
    pub changed: bool,
    /// The counts of the item right after it.
    pub counts: ItemCounts,
}

/// The reactions of one user to one item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reactions {
    /// Whether the user likes it.
    pub liked: bool,
    /// Whether it is a favorite of the user.
    pub favorited: bool,
}
