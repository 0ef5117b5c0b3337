//! A table of one row a user, or a part of it, in memory: a change of many users looks up each.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use foldhash::HashMap;
use parking_lot::RwLock;

use crate::memory::key_filter::KeyFilter;
use model::{Fill, UserId};

/// Users with neighbouring ids share a shard, so that a look at many users who ascend locks few of them.
const NEIGHBOURS: u64 = 256;

/// What a mirror knows of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known<V> {
    /// The user's row.
    Row(V),
    /// The user has no row.
    NoRow,
    /// Only the table has the answer.
    Unknown,
}

impl<V> Known<V> {
    /// The row, of a user who is known to have one.
    pub(crate) fn row(self) -> Option<V> {
        match self {
            Self::Row(row) => Some(row),
            Self::NoRow | Self::Unknown => None,
        }
    }
}

/// Rows by user, never evicted. The rows of users who do not fit are in the table only: a filter has these users.
///
/// The writer keeps it true: each change of a row is made here, too, by one writer of the user at a time. A walk over the
/// table brings the rows from before. Until it ends, a user who is missing here is unknown.
pub(crate) struct Mirror<V, const SHARDS: usize> {
    shards: Box<[RwLock<HashMap<UserId, V>>]>,
    /// Users who did not fit, and those of whom nothing is known yet.
    beyond: KeyFilter,
    /// Users who have lost their row before the walk has ended: it may be at a row from before.
    removed: KeyFilter,
    capacity: usize,
    len: AtomicUsize,
    /// How often a user did not fit.
    left_out: AtomicU64,
    /// Rises with each user who may have a row and did not have one.
    version: AtomicU64,
}

impl<V: Copy, const SHARDS: usize> Mirror<V, SHARDS> {
    /// A mirror for the rows of so many users, none of which is loaded yet.
    pub(crate) fn new(capacity: usize) -> Self {
        let shards = (0..SHARDS).map(|_| RwLock::default()).collect();
        Self {
            shards,
            beyond: KeyFilter::to_load(0),
            removed: KeyFilter::default(),
            capacity,
            len: AtomicUsize::new(0),
            left_out: AtomicU64::new(0),
            version: AtomicU64::new(0),
        }
    }

    fn shard(user: UserId) -> usize {
        let block = user.get() / NEIGHBOURS;
        (block.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % SHARDS
    }

    /// A user has this row.
    pub(crate) fn set(&self, user: UserId, row: V) {
        let mut shard = self.shards[Self::shard(user)].write();
        if let Some(place) = shard.get_mut(&user) {
            *place = row;
        } else {
            self.enter(&mut shard, user, row);
        }
    }

    fn enter(&self, shard: &mut HashMap<UserId, V>, user: UserId, row: V) {
        if self.len.fetch_add(1, Ordering::Relaxed) < self.capacity {
            shard.insert(user, row);
        } else {
            self.len.fetch_sub(1, Ordering::Relaxed);
            self.left_out.fetch_add(1, Ordering::Relaxed);
            self.beyond.add(user.get());
        }
        self.version.fetch_add(1, Ordering::Release);
    }

    /// A user has no row any more.
    pub(crate) fn remove(&self, user: UserId) {
        let mut shard = self.shards[Self::shard(user)].write();
        if !self.beyond.is_loaded() {
            self.removed.add(user.get());
        }
        if shard.remove(&user).is_some() {
            self.len.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Gives `visit` what is known of each of `users`, in their order. A lock is held meanwhile. Quickest if they ascend.
    pub(crate) fn look(&self, users: &[UserId], mut visit: impl FnMut(UserId, Known<V>)) {
        for part in users.chunk_by(|a, b| Self::shard(*a) == Self::shard(*b)) {
            let Some(first) = part.first() else { continue };
            let shard = self.shards[Self::shard(*first)].read();
            // Asked under the lock: a user who was left out before is in the filter.
            let missing = |user: UserId| match self.beyond.may_have(user.get()) {
                true => Known::Unknown,
                false => Known::NoRow,
            };
            part.iter()
                .for_each(|user| visit(*user, shard.get(user).map_or_else(|| missing(*user), |row| Known::Row(*row))));
        }
    }

    /// A number that rises with each user who may have a row now and of whom it was known that there was none. It also rises
    /// when all rows are loaded. Looks that begin after it was read know of all who had come by then.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The walk over the table is at the row of a user. What was written since the walk began is newer, and stays.
    pub(crate) fn load(&self, user: UserId, row: V) {
        let mut shard = self.shards[Self::shard(user)].write();
        if shard.contains_key(&user) || self.beyond.had(user.get()) {
            return;
        }
        // The filter may be wrong about that, so the table has the answer.
        if self.removed.may_have(user.get()) {
            return self.beyond.add(user.get());
        }
        self.enter(&mut shard, user, row);
    }

    /// The walk has come to the end.
    pub(crate) fn loaded(&self) {
        self.beyond.loaded();
        self.version.fetch_add(1, Ordering::Release);
    }

    /// The number of users here, and how often one did not fit.
    pub(crate) fn usage(&self) -> (Fill, u64) {
        let len = self.len.load(Ordering::Relaxed).min(self.capacity);
        (Fill::of(len, self.capacity), self.left_out.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    #[test]
    fn who_does_not_fit_or_leaves_before_the_walk_comes_is_looked_up() {
        let mirror = Mirror::<u8, 2>::new(2);
        let known = |raw| {
            let mut found = Known::NoRow;
            mirror.look(&[user(raw)], |_, known| found = known);
            found
        };
        assert_eq!(known(1), Known::Unknown);
        mirror.set(user(1), 5);
        mirror.remove(user(2));
        // The walk is at the rows of before.
        (1..=3).for_each(|raw| mirror.load(user(raw), 4));
        let version = mirror.version();
        mirror.loaded();
        assert!(mirror.version() > version);
        assert_eq!([1, 2, 3, 4].map(known), [Known::Row(5), Known::Unknown, Known::Row(4), Known::NoRow]);
        mirror.set(user(4), 6);
        mirror.remove(user(1));
        assert_eq!([1, 4].map(known), [Known::NoRow, Known::Unknown]);
        assert_eq!((mirror.usage().0.used, mirror.usage().1), (1, 1));
    }
}
