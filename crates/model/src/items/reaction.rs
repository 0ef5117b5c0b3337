//! Reactions of users to items.

use crate::{ItemCounts, Millis, ReactionKind, UserId};

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

/// The result of a [`Reaction`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reacted {
    /// Time of the reaction, if it exists.
    pub since: Option<Millis>,
    /// Whether this is new.
    pub changed: bool,
    /// The counts of the item right after it.
    pub counts: ItemCounts,
}
