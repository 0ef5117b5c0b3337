//! Likes and favorites.

use std::str::FromStr;

use super::counts::{ItemCounter, ItemCounts};
use super::id::UserId;
use super::position::{Millis, UserCursor};

/// What a user can do to an item, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    pub fn name(self) -> &'static str {
        match self {
            Self::Like => "like",
            Self::Favorite => "favorite",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Where it is counted.
    pub fn counter(self) -> ItemCounter {
        match self {
            Self::Like => ItemCounter::Likes,
            Self::Favorite => ItemCounter::Favorites,
        }
    }
}

impl FromStr for ReactionKind {
    type Err = &'static str;
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::named(name).ok_or("expected like or favorite")
    }
}

/// One wish of a user about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaction {
    /// Whose.
    pub user: UserId,
    /// Which.
    pub kind: ReactionKind,
    /// There since then, or not there.
    pub since: Option<Millis>,
}

/// A place among all reactions to an item in the order of their purge: by kind, each newest first.
pub type ReactionPlace = (ReactionKind, UserCursor);

/// What became of a [`Reaction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reacted {
    /// Since when it is there, if it is.
    pub since: Option<Millis>,
    /// Whether it was not so before.
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
