//! Whose content a user is shown, cached: the followees, less the muted and those who hide from the user.

use std::sync::Arc;

use crate::cache::Cache;
use crate::error::Result;
use crate::live::Live;
use crate::model::{CacheUsage, UserId};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Memory for cached lists, bytes.
const CAPACITY: u64 = 64 << 20;
/// About what a list costs: its ids, and what holds them.
const LIST: fn(&List) -> u64 = |list| 80 + 8 * list.len() as u64;
const USUAL_LIST: u64 = 208;
const STRIPES: usize = 1024;

/// A list of authors, ascending, shared with whoever reads it.
pub(super) type List = Arc<[UserId]>;

/// A read-through cache that never serves a list older than the last acknowledged change.
///
/// A writer announces a change before it writes and drops the list after; a loader keeps what it
/// read only if no change began or ended since before it read, and none is under way. Both are
/// decided under a stripe's lock, which nobody holds while reading or writing the store.
#[derive(Debug)]
pub(super) struct Followees {
    lists: Cache<UserId, List>,
    stripes: Box<[Mutex<Stripe>]>,
    live: Arc<Live>,
}

#[derive(Debug, Default)]
struct Stripe {
    writers: usize,
    changes: u64,
}

impl Followees {
    /// An empty cache, which tells the streams of a user when the user's list changes.
    pub(super) fn new(live: Arc<Live>) -> Self {
        Self {
            lists: Cache::new(CAPACITY, USUAL_LIST, LIST),
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            live,
        }
    }

    fn stripe(&self, user: UserId) -> MutexGuard<'_, Stripe> {
        let index = (user.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % STRIPES;
        self.stripes[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached list, or the loaded one.
    pub(super) fn get(&self, user: UserId, load: impl FnOnce() -> Result<Vec<UserId>>) -> Result<List> {
        if let Some(list) = self.lists.get(&user) {
            return Ok(list);
        }
        let before = self.stripe(user).changes;
        let list: List = load()?.into();
        let stripe = self.stripe(user);
        if stripe.writers == 0 && stripe.changes == before {
            self.lists.insert(user, Arc::clone(&list));
        }
        Ok(list)
    }

    /// The cache in figures.
    pub(super) fn usage(&self) -> CacheUsage {
        self.lists.usage()
    }

    /// Announces a change of a user's list; it ends when the result is dropped.
    pub(super) fn change(&self, user: UserId) -> Changing<'_> {
        let mut stripe = self.stripe(user);
        stripe.writers += 1;
        stripe.changes += 1;
        Changing { followees: self, user }
    }
}

/// A change of a user's list under way.
#[must_use = "the change ends when this is dropped"]
pub(super) struct Changing<'a> {
    followees: &'a Followees,
    user: UserId,
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let mut stripe = self.followees.stripe(self.user);
        stripe.writers -= 1;
        // Also at the end: a loader may have begun in the middle, and read what was there before.
        stripe.changes += 1;
        self.followees.lists.remove(&self.user);
        drop(stripe);
        // They read the list again before anything else is delivered.
        self.followees.live.streams().unsettle(self.user);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followees() -> Followees {
        Followees::new(Arc::new(Live::new(1000)))
    }

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn read(followees: &Followees, stored: &[u64]) -> Vec<u64> {
        let load = || Ok(stored.iter().map(|raw| user(*raw)).collect());
        followees.get(user(1), load).expect("loads").iter().map(|id| id.get()).collect()
    }

    #[test]
    fn a_list_is_kept_until_it_changes() {
        let followees = followees();
        assert_eq!(read(&followees, &[2]), [2]);
        assert_eq!(read(&followees, &[3]), [2], "from the cache");
        let change = followees.change(user(1));
        assert_eq!(read(&followees, &[3]), [2], "not yet acknowledged");
        drop(change);
        assert_eq!(read(&followees, &[3]), [3]);
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept() {
        let followees = followees();
        let list = followees.get(user(1), || {
            drop(followees.change(user(1)));
            Ok(vec![user(2)])
        });
        assert_eq!(list.expect("loads").len(), 1);
        assert_eq!(read(&followees, &[3]), [3]);
        let list = followees.get(user(9), || Ok(vec![]));
        assert!(list.expect("loads").is_empty());
        let _change = followees.change(user(1));
        followees.lists.clear();
        assert_eq!(read(&followees, &[4]), [4]);
        assert_eq!(read(&followees, &[5]), [5], "nothing is kept while a change is under way");
    }

    #[test]
    fn what_was_read_during_a_change_is_not_kept() {
        let followees = followees();
        let change = followees.change(user(1));
        let list = followees.get(user(1), || {
            drop(change);
            Ok(vec![user(2)])
        });
        assert_eq!(list.expect("loads").len(), 1);
        assert_eq!(read(&followees, &[3]), [3]);
    }
}
