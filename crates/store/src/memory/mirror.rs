//! A table of one row a user, or a part of it, in memory: a change of many users looks up each.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use foldhash::HashMap;
use parking_lot::RwLock;

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

/// Rows by user, never evicted. The rows of users who do not fit are in the table only; from then on a user missing here
/// may be one of them.
///
/// The writer keeps it true: rows are read at start, and each change of a row is made here, too, by one writer of the
/// user at a time.
pub(crate) struct Mirror<V, const SHARDS: usize> {
    shards: Box<[RwLock<HashMap<UserId, V>>]>,
    capacity: usize,
    len: AtomicUsize,
    /// How often a user did not fit.
    left_out: AtomicU64,
}

impl<V: Copy, const SHARDS: usize> Mirror<V, SHARDS> {
    /// An empty mirror for the rows of so many users.
    pub(crate) fn new(capacity: usize) -> Self {
        let shards = (0..SHARDS).map(|_| RwLock::default()).collect();
        Self { shards, capacity, len: AtomicUsize::new(0), left_out: AtomicU64::new(0) }
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
        } else if self.len.fetch_add(1, Ordering::Relaxed) < self.capacity {
            shard.insert(user, row);
        } else {
            self.len.fetch_sub(1, Ordering::Relaxed);
            self.left_out.fetch_add(1, Ordering::Release);
        }
    }

    /// A user has no row any more.
    pub(crate) fn remove(&self, user: UserId) {
        if self.shards[Self::shard(user)].write().remove(&user).is_some() {
            self.len.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Gives `visit` what is known of each of `users`, in their order. A lock is held meanwhile. Quickest if they ascend.
    pub(crate) fn look(&self, users: &[UserId], mut visit: impl FnMut(UserId, Known<V>)) {
        for part in users.chunk_by(|a, b| Self::shard(*a) == Self::shard(*b)) {
            let Some(first) = part.first() else { continue };
            let shard = self.shards[Self::shard(*first)].read();
            // Read under the lock: if a user was left out before, this tells.
            let missing = if self.left_out.load(Ordering::Acquire) == 0 { Known::NoRow } else { Known::Unknown };
            part.iter().for_each(|user| visit(*user, shard.get(user).map_or(missing, |row| Known::Row(*row))));
        }
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

    fn look<const SHARDS: usize>(mirror: &Mirror<u64, SHARDS>, users: &[UserId]) -> Vec<Known<u64>> {
        let mut found = Vec::new();
        mirror.look(users, |_, known| found.push(known));
        found
    }

    #[test]
    fn a_row_is_here_until_removed() {
        let mirror = Mirror::<u64, 64>::new(100);
        let asked = [1, 2, 300, 2].map(user);
        assert_eq!(look(&mirror, &asked), [Known::NoRow; 4]);
        mirror.set(user(2), 7);
        mirror.set(user(300), 8);
        mirror.set(user(2), 9);
        assert_eq!(look(&mirror, &asked), [Known::NoRow, Known::Row(9), Known::Row(8), Known::Row(9)]);
        mirror.remove(user(2));
        mirror.remove(user(2));
        assert_eq!(look(&mirror, &asked), [Known::NoRow, Known::NoRow, Known::Row(8), Known::NoRow]);
        assert_eq!(mirror.usage(), (Fill::of(1, 100), 0));
        assert_eq!(look(&mirror, &[]), []);
    }

    #[test]
    fn once_a_user_does_not_fit_a_missing_one_is_unknown() {
        let mirror = Mirror::<u64, 1>::new(2);
        for raw in 1..=3 {
            mirror.set(user(raw), raw);
        }
        let known = look(&mirror, &[1, 2, 3, 4].map(user));
        assert_eq!(known, [Known::Row(1), Known::Row(2), Known::Unknown, Known::Unknown]);
        mirror.remove(user(1));
        mirror.remove(user(3));
        mirror.set(user(5), 5);
        assert_eq!(look(&mirror, &[1, 2, 5].map(user)), [Known::Unknown, Known::Row(2), Known::Row(5)]);
        assert_eq!(mirror.usage(), (Fill::of(2, 2), 1));
    }
}
