//! Whose content a user is shown, cached: the followees, less the muted and those who hide from the user.

use std::sync::Arc;

use super::fresh::{self, Fresh};
use crate::error::Result;
use crate::live::Live;
use crate::model::{CacheUsage, UserId};

/// Memory for cached lists, bytes.
const CAPACITY: u64 = 64 << 20;
/// About what a list costs: its ids, and what holds them.
const LIST: fn(&List) -> u64 = |list| 80 + 8 * list.len() as u64;
const USUAL_LIST: u64 = 208;

/// A list of authors, ascending, shared with whoever reads it.
pub(super) type List = Arc<[UserId]>;

/// The lists that were read lately; a user's streams are told when the user's list changes.
#[derive(Debug)]
pub(super) struct Followees {
    lists: Fresh<UserId, List>,
    live: Arc<Live>,
}

/// A change of a user's list under way. First the list is dropped, then the user's streams are told.
#[must_use = "the change ends when this is dropped"]
pub(super) struct Changing<'a> {
    _change: fresh::Changing<'a, UserId, List>,
    _tells: Tells<'a>,
}

struct Tells<'a> {
    live: &'a Live,
    user: UserId,
}

impl Followees {
    /// An empty cache.
    pub(super) fn new(live: Arc<Live>) -> Self {
        Self { lists: Fresh::new(CAPACITY, USUAL_LIST, LIST), live }
    }

    /// The cached list, or the loaded one.
    pub(super) fn get(&self, user: UserId, load: impl FnOnce() -> Result<List>) -> Result<List> {
        self.lists.get(user, load)
    }

    /// The cache in figures.
    pub(super) fn usage(&self) -> CacheUsage {
        self.lists.usage()
    }

    /// Announces a change of a user's list; it ends when the result is dropped.
    pub(super) fn change(&self, user: UserId) -> Changing<'_> {
        Changing { _change: self.lists.change(user), _tells: Tells { live: &self.live, user } }
    }
}

impl Drop for Tells<'_> {
    fn drop(&mut self) {
        // They read the list again before anything else is delivered.
        self.live.streams().unsettle(self.user);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_told_of_a_change_when_the_list_is_dropped_already() {
        let live = Arc::new(Live::new(1000));
        let followees = Followees::new(Arc::clone(&live));
        let user = UserId::MIN;
        let _stream = live.streams().open(user).expect("open");
        live.streams().settle(live.streams().stale()[0], [].into());
        assert!(followees.get(user, || Ok([].into())).expect("loads").is_empty());
        let change = followees.change(user);
        assert!(live.streams().stale().is_empty(), "nothing is written yet");
        drop(change);
        assert_eq!(live.streams().stale().len(), 1);
        assert_eq!(*followees.get(user, || Ok([user].into())).expect("loads"), [user]);
    }
}
