//! Whose content a user is shown, cached: the followees, less the muted and those who hide from the user.

use std::collections::HashSet;
use std::sync::Arc;

use crate::cache::{self, ReadThrough};
use crate::error::Result;
use crate::model::{CacheUsage, UserId};
use crate::store::{Store, Tier};
use crate::streaming::Streaming;
use crate::stripes::Striped;
use crate::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

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
    lists: ReadThrough<UserId, List>,
    streaming: Arc<Streaming>,
    turns: Striped<Mutex<()>>,
    /// Shared by those who change a user's list, exclusive for who wants it to stay as it is.
    gates: Striped<RwLock<()>>,
}

/// A change of a user's list under way. First the list is dropped, then the user's streams are told.
#[must_use = "the change ends when this is dropped"]
pub(super) struct FolloweesChange<'a> {
    _change: cache::CacheChange<'a, UserId, List>,
    _tells: Tells<'a>,
    _gate: RwLockReadGuard<'a, ()>,
}

struct Tells<'a> {
    followees: &'a Followees,
    store: &'a dyn Store,
    user: UserId,
    authors: Vec<UserId>,
}

impl Followees {
    /// An empty cache.
    pub(super) fn new(streaming: Arc<Streaming>) -> Self {
        Self {
            lists: ReadThrough::new(CAPACITY, USUAL_LIST, LIST),
            streaming,
            turns: Striped::default(),
            gates: Striped::default(),
        }
    }

    /// The cached list, or the loaded one.
    pub(super) fn get(&self, user: UserId, load: impl FnOnce() -> Result<List>) -> Result<List> {
        self.lists.get(user, load)
    }

    /// The cache in figures.
    pub(super) fn usage(&self) -> CacheUsage {
        self.lists.usage()
    }

    /// Has changes of a user's list wait until the result is dropped; comes after those under way.
    pub(super) fn hold(&self, user: UserId) -> RwLockWriteGuard<'_, ()> {
        self.gates.of(user.get()).write()
    }

    /// Announces a change of a user's list by which these authors come or go; it ends when the result is dropped.
    pub(super) fn change<'a>(
        &'a self,
        store: &'a dyn Store,
        user: UserId,
        authors: Vec<UserId>,
    ) -> FolloweesChange<'a> {
        let gate = self.gates.of(user.get()).read();
        let tells = Tells { followees: self, store, user, authors };
        FolloweesChange { _change: self.lists.change(user), _tells: tells, _gate: gate }
    }
}

impl Drop for Tells<'_> {
    fn drop(&mut self) {
        let (streams, user) = (self.followees.streaming.streams(), self.user);
        // Who opens the first one later reads the list later, too.
        if !streams.is_open(user) {
            return;
        }
        // One after the other: what is told last was looked up last.
        let _turn = self.followees.turns.of(user.get()).lock();
        // With `include_own` users are shown themselves, whatever they do.
        self.authors.retain(|author| *author != user);
        match self.store.authors_among(user, &self.authors, Tier::Disk) {
            Ok(shown) => {
                let shown: HashSet<_> = shown.into_iter().collect();
                let told: Vec<_> = self.authors.iter().map(|author| (*author, shown.contains(author))).collect();
                streams.change(user, &told);
            }
            Err(error) => {
                tracing::warn!(%error, %user, "streams end, for it cannot be read whom their user is shown");
                streams.end(user);
            }
        }
    }
}
