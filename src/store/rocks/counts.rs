//! Counters: merged sums, read by their keys.

use super::keys::{self, Counter};
use super::tables::{COUNTS, ITEM_COUNTS};
use super::{Rocks, values};
use crate::error::{Error, Result};
use crate::model::{ContentId, ItemCounts, UserCounts, UserId};
use crate::store::Tier;

impl Rocks {
    /// See [`Store::user_counts`](crate::store::Store::user_counts).
    pub fn user_counts(&self, user: UserId, tier: Tier) -> Result<UserCounts> {
        Ok(UserCounts {
            following: self.count(user, Counter::Following, tier)?,
            followers: self.count(user, Counter::Followers, tier)?,
            friends: self.count(user, Counter::Friends, tier)?,
            content: self.count(user, Counter::Content, tier)?,
        })
    }

    /// See [`Store::follower_count`](crate::store::Store::follower_count).
    pub fn follower_count(&self, author: UserId) -> Result<u64> {
        self.count(author, Counter::Followers, Tier::Disk)
    }

    pub(super) fn count(&self, user: UserId, what: Counter, tier: Tier) -> Result<u64> {
        match self.get(COUNTS, &keys::count(user, what), tier)? {
            None => Ok(0),
            Some(row) => values::read_count(&row)
                .and_then(|count| u64::try_from(count).ok())
                .ok_or_else(|| Error::Corrupt(format!("counter of user {user}"))),
        }
    }

    /// See [`Store::item_counts`](crate::store::Store::item_counts).
    pub fn item_counts(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<ItemCounts>> {
        let keys: Vec<_> = ids.iter().map(|id| keys::id(id.get())).collect();
        let rows = self.get_many(ITEM_COUNTS, keys.iter().map(<[u8; 8]>::as_slice), tier)?;
        let read = |(id, row): (&ContentId, Option<rocksdb::DBPinnableSlice<'_>>)| match row {
            None => Ok(ItemCounts::default()),
            Some(row) => item_counts(&row).ok_or_else(|| Error::Corrupt(format!("counters of content {id}"))),
        };
        ids.iter().zip(rows).map(read).collect()
    }
}

/// The counts in a row; nothing if it does not read, or one is below zero.
fn item_counts(row: &[u8]) -> Option<ItemCounts> {
    let counts = values::read_item_counts(row)?;
    let [likes, favorites, comments, reposts] = counts.map(|count| u64::try_from(count).ok());
    Some(ItemCounts { likes: likes?, favorites: favorites?, comments: comments?, reposts: reposts? })
}
