//! Users' activities in memory, never older than their rows.
//!
//! No lock is held while a row is read or written: a thread that must not wait asks here too. A writer
//! announces its change before it writes; a reader keeps what it read only if no change began or ended since
//! before it read, and none is under way.

use parking_lot::{Mutex, MutexGuard};

use crate::cache::{self, Cache};
use crate::model::{Activity, CacheUsage, UserId};

/// Memory for them, bytes: a quarter of a million of them.
const CAPACITY: u64 = 16 << 20;
/// What one takes.
const ACTIVITY: fn(&Activity) -> u64 = |_| ACTIVITY_BYTES;
const ACTIVITY_BYTES: u64 = 64 - cache::OVERHEAD;
const STRIPES: usize = 1024;

/// Changes of the users that share it.
#[derive(Default)]
struct Stripe {
    /// Under way.
    writers: usize,
    /// Beginnings and ends so far.
    changes: u64,
}

/// The activities that were read or written lately.
pub(super) struct Activities {
    values: Cache<UserId, Activity>,
    stripes: Box<[Mutex<Stripe>]>,
}

/// A change of a user's activity under way.
#[must_use = "the change ends when this is dropped"]
pub(super) struct Changing<'a> {
    activities: &'a Activities,
    user: UserId,
}

impl Default for Activities {
    fn default() -> Self {
        Self {
            values: Cache::new(CAPACITY, ACTIVITY_BYTES, ACTIVITY),
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
        }
    }
}

impl Activities {
    fn stripe(&self, user: UserId) -> MutexGuard<'_, Stripe> {
        let index = (user.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % STRIPES;
        self.stripes[index].lock()
    }

    /// What is known of a user.
    pub(super) fn get(&self, user: UserId) -> Option<Activity> {
        self.values.get(&user)
    }

    /// How many changes there have been; to be asked before a row is read.
    pub(super) fn version(&self, user: UserId) -> u64 {
        self.stripe(user).changes
    }

    /// Keeps what was read when there had been so many changes, if it is still fresh.
    pub(super) fn keep(&self, user: UserId, activity: Activity, version: u64) {
        let stripe = self.stripe(user);
        if stripe.writers == 0 && stripe.changes == version {
            self.values.insert(user, activity);
        }
    }

    /// Announces a change; it ends when the result is dropped. The caller sees to it that a user has one at a time.
    pub(super) fn change(&self, user: UserId) -> Changing<'_> {
        let mut stripe = self.stripe(user);
        stripe.writers += 1;
        stripe.changes += 1;
        self.values.remove(&user);
        Changing { activities: self, user }
    }

    /// The activities in figures.
    pub(super) fn usage(&self) -> CacheUsage {
        self.values.usage()
    }
}

impl Changing<'_> {
    /// Keeps what is written: from here on it is the row.
    pub(super) fn written(self, activity: Activity) {
        // Under the lock, so that no reader of what was there before can keep it after this.
        let stripe = self.activities.stripe(self.user);
        self.activities.values.insert(self.user, activity);
        drop(stripe);
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let mut stripe = self.activities.stripe(self.user);
        stripe.writers -= 1;
        stripe.changes += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: UserId = UserId::MIN;
    const OLD: Activity = Activity::Dormant { seen: None };
    const NEW: Activity = Activity::Dormant { seen: Some(5) };

    #[test]
    fn what_was_read_before_a_change_ended_is_not_kept() {
        let activities = Activities::default();
        let before = activities.version(USER);
        activities.keep(USER, OLD, before);
        assert_eq!(activities.get(USER), Some(OLD));
        let change = activities.change(USER);
        assert_eq!(activities.get(USER), None);
        let during = activities.version(USER);
        for version in [before, during] {
            activities.keep(USER, OLD, version);
            assert_eq!(activities.get(USER), None, "a change is under way");
        }
        change.written(NEW);
        for version in [before, during] {
            activities.keep(USER, OLD, version);
            assert_eq!(activities.get(USER), Some(NEW), "that was read before");
        }
        // One that failed leaves nothing: the row says what is there.
        drop(activities.change(USER));
        assert_eq!(activities.get(USER), None);
        activities.keep(USER, NEW, activities.version(USER));
        assert_eq!(activities.get(USER), Some(NEW));
    }
}
