//! Counts of items and of users.

use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::reaction_kinds::ReactionKind;

/// A counter of the items that point at an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemCounter {
    /// Live items of the kind [`COMMENT`] that point at it.
    Comments,
    /// Live items of the kind [`REPOST`] that point at it.
    Reposts,
}

/// The kind of content that is listed and counted as a comment on the item it points at.
pub const COMMENT: &str = "comment";
/// The kind of content that is counted as a repost of the item it points at.
pub const REPOST: &str = "repost";

impl ItemCounter {
    /// The counter of the item that an item of this kind points at.
    pub fn of_kind(kind: &str) -> Option<Self> {
        match kind {
            COMMENT => Some(Self::Comments),
            REPOST => Some(Self::Reposts),
            _ => None,
        }
    }
}

/// The counts of one item, exact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ItemCounts {
    /// See [`ItemCounter::Comments`].
    pub comments: u64,
    /// See [`ItemCounter::Reposts`].
    pub reposts: u64,
    /// Its reactions.
    pub reactions: ReactionCounts,
}

/// How many users have each reaction to an item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReactionCounts {
    /// Of the first two kinds. Most hosts have no others, so the counts of an item take few bytes, and no memory apart.
    first: [u64; 2],
    /// Of the others, those above zero, by kind; `None` if there are none.
    others: Option<Arc<Vec<(ReactionKind, u64)>>>,
}

impl ReactionCounts {
    /// The number of users who have a reaction.
    pub fn get(&self, kind: ReactionKind) -> u64 {
        let of_others = || self.others().iter().find(|(other, _)| *other == kind).map_or(0, |(_, count)| *count);
        self.first.get(kind.place()).copied().unwrap_or_else(of_others)
    }

    /// Sets the number of users who have a reaction.
    pub fn set(&mut self, kind: ReactionKind, count: u64) {
        if let Some(first) = self.first.get_mut(kind.place()) {
            *first = count;
            return;
        }
        let others = Arc::make_mut(self.others.get_or_insert_default());
        others.retain(|(other, _)| *other != kind);
        if count > 0 {
            others.insert(others.partition_point(|(other, _)| *other < kind), (kind, count));
        }
        self.others.take_if(|others| others.is_empty());
    }

    fn others(&self) -> &[(ReactionKind, u64)] {
        self.others.as_ref().map_or(&[], |others| others)
    }

    /// The kinds with a number above zero, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (ReactionKind, u64)> {
        let first = self.first.iter().enumerate().map(|(place, count)| (ReactionKind::at(place), *count));
        first.filter(|(_, count)| *count > 0).chain(self.others().iter().copied())
    }

    /// Whether nobody has reacted.
    pub fn is_empty(&self) -> bool {
        self.first == [0; 2] && self.others.is_none()
    }

    /// Bytes of memory beside the value itself.
    pub fn more_bytes(&self) -> u64 {
        self.others.as_ref().map_or(0, |others| (16 + size_of_val(&**others) + size_of_val(&***others)) as u64)
    }
}

impl FromIterator<(ReactionKind, u64)> for ReactionCounts {
    fn from_iter<I: IntoIterator<Item = (ReactionKind, u64)>>(counts: I) -> Self {
        let mut all = Self::default();
        counts.into_iter().for_each(|(kind, count)| all.set(kind, count));
        all
    }
}

/// The counts of a user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct UserCounts {
    /// Users whom the user follows.
    pub following: u64,
    /// Users who follow the user.
    pub followers: u64,
    /// Users whom the user follows and who follow the user.
    pub friends: u64,
    /// Items on the own page of the user.
    pub content: u64,
}
