//! Counts, each counted anew from what it counts.

use std::collections::BTreeSet;

use super::{Memory, State};
use crate::error::Result;
use crate::model::{Content, ContentId, ItemCounter, ItemCounts, ReactionKind, UserCounts, UserId};
use crate::store::types::Tier;

impl Memory {
    /// See [`Store::user_counts`](super::super::Store::user_counts).
    pub fn user_counts(&self, user: UserId, _: Tier) -> Result<UserCounts> {
        let state = self.state();
        let following = state.following.keys().filter(|(follower, _)| *follower == user);
        Ok(UserCounts {
            following: following.clone().count() as u64,
            followers: state.followers.keys().filter(|(target, _)| *target == user).count() as u64,
            friends: following.filter(|pair| state.followers.contains_key(pair)).count() as u64,
            content: state.outbox_of(user).count() as u64,
        })
    }

    /// See [`Store::item_counts`](super::super::Store::item_counts).
    pub fn item_counts(&self, ids: &[ContentId], _: Tier) -> Result<Vec<ItemCounts>> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.counts_of(*id)).collect())
    }
}

impl State {
    /// How many items anything counts for.
    pub(super) fn counted_items(&self) -> usize {
        let counted = |content: &&Content| ItemCounter::of_kind(&content.kind).is_some();
        let subjects = self.content.values().filter(counted).filter_map(|content| content.ref_id);
        subjects.chain(self.reactions.keys().map(|(id, ..)| *id)).collect::<BTreeSet<_>>().len()
    }

    pub(super) fn counts_of(&self, id: ContentId) -> ItemCounts {
        let pointing = |counter: ItemCounter| {
            let counts = |content: &&Content| {
                content.ref_id == Some(id)
                    && !self.is_purged(id)
                    && ItemCounter::of_kind(&content.kind) == Some(counter)
                    && !self.deleted.contains_key(&content.id)
            };
            self.content.values().filter(counts).count() as u64
        };
        ItemCounts {
            likes: self.reactors(id, ReactionKind::Like).count() as u64,
            favorites: self.reactors(id, ReactionKind::Favorite).count() as u64,
            comments: pointing(ItemCounter::Comments),
            reposts: pointing(ItemCounter::Reposts),
        }
    }
}
