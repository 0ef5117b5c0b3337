//! The users who get partial pushes, in memory beside the table `activity`: a fan-out to a million of them looks up
//! each.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use foldhash::HashMap;
use parking_lot::RwLock;

use model::{Fill, Millis, UserId};

/// Most users kept, at 20 to 40 bytes each.
const CAPACITY: usize = 1_800_000;
const SHARDS: usize = 64;
/// Users with neighbouring ids share a shard, so that a chunk of followers locks few of them.
const NEIGHBOURS: u64 = 256;

/// What is known of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Gets partial pushes, and was last seen at this time.
    At(Millis),
    /// Gets none.
    No,
    /// Only the table has the answer.
    Unknown,
}

impl Seen {
    /// The time, of a user who gets partial pushes.
    pub(crate) fn time(self) -> Option<Millis> {
        match self {
            Self::At(seen) => Some(seen),
            Self::No | Self::Unknown => None,
        }
    }
}

/// For each user who gets partial pushes, when the user was last seen. Written through: a user comes in before the row
/// is visible, and goes after that.
pub(crate) struct PartialPushRecipients {
    shards: Box<[RwLock<HashMap<UserId, Millis>>]>,
    capacity: usize,
    len: AtomicUsize,
    /// How often a user did not fit. If ever, a user missing here may be one of these.
    left_out: AtomicU64,
}

impl Default for PartialPushRecipients {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl PartialPushRecipients {
    fn with_capacity(capacity: usize) -> Self {
        let shards = (0..SHARDS).map(|_| RwLock::default()).collect();
        Self { shards, capacity, len: AtomicUsize::new(0), left_out: AtomicU64::new(0) }
    }

    fn shard(user: UserId) -> usize {
        let block = user.get() / NEIGHBOURS;
        (block.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % SHARDS
    }

    /// A user is about to get partial pushes, or was seen again. Changes of one user come one after the other.
    pub(crate) fn set(&self, user: UserId, seen: Millis) {
        let mut shard = self.shards[Self::shard(user)].write();
        if let Some(place) = shard.get_mut(&user) {
            *place = seen;
        } else if self.len.fetch_add(1, Ordering::Relaxed) < self.capacity {
            shard.insert(user, seen);
        } else {
            self.len.fetch_sub(1, Ordering::Relaxed);
            self.left_out.fetch_add(1, Ordering::Release);
        }
    }

    /// A user gets partial pushes no more.
    pub(crate) fn remove(&self, user: UserId) {
        if self.shards[Self::shard(user)].write().remove(&user).is_some() {
            self.len.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// What is known of each of `users`, in their order. Quickest if they ascend.
    pub(crate) fn look(&self, users: &[UserId]) -> Vec<Seen> {
        let mut found = Vec::with_capacity(users.len());
        for part in users.chunk_by(|a, b| Self::shard(*a) == Self::shard(*b)) {
            let Some(first) = part.first() else { continue };
            let shard = self.shards[Self::shard(*first)].read();
            // Read under the lock: if a user was left out before, this tells.
            let missing = if self.left_out.load(Ordering::Acquire) == 0 { Seen::No } else { Seen::Unknown };
            found.extend(part.iter().map(|user| shard.get(user).map_or(missing, |seen| Seen::At(*seen))));
        }
        found
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
    fn a_user_is_here_until_removed() {
        let users = PartialPushRecipients::default();
        let asked = [1, 2, 300, 2].map(user);
        assert_eq!(users.look(&asked), [Seen::No; 4]);
        users.set(user(2), 7);
        users.set(user(300), 8);
        users.set(user(2), 9);
        assert_eq!(users.look(&asked), [Seen::No, Seen::At(9), Seen::At(8), Seen::At(9)]);
        users.remove(user(2));
        users.remove(user(2));
        assert_eq!(users.look(&asked), [Seen::No, Seen::No, Seen::At(8), Seen::No]);
        assert_eq!(users.usage(), (Fill::of(1, CAPACITY), 0));
        assert_eq!(users.look(&[]), []);
    }

    #[test]
    fn once_a_user_does_not_fit_a_missing_one_is_unknown() {
        let users = PartialPushRecipients::with_capacity(2);
        for raw in 1..=3 {
            users.set(user(raw), raw);
        }
        assert_eq!(users.look(&[1, 2, 3, 4].map(user)), [Seen::At(1), Seen::At(2), Seen::Unknown, Seen::Unknown]);
        users.remove(user(1));
        users.remove(user(3));
        users.set(user(5), 5);
        assert_eq!(users.look(&[1, 2, 5].map(user)), [Seen::Unknown, Seen::At(2), Seen::At(5)]);
        assert_eq!(users.usage(), (Fill::of(2, 2), 1));
    }
}
