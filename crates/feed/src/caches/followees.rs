//! Cached lists of the authors whose content a user is shown in the home timeline.

use std::sync::Arc;

use crate::streaming::{ShownChange, Streaming};
use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::store::Tier;
use model::sync::Mutex;
use model::versions::Dependencies;
use model::{Rule, ShownSources, UserId, cache};
use store::Store;

/// Approximate bytes of a list: the ids, two parts of them that may be kept, the rules, the silenced authors, and their
/// containers.
const LIST: fn(&List) -> u64 = |List { sources, .. }| {
    let ids = sources.len() + 2 * (sources.len() / KEPT_OF) + sources.silenced().map_or(0, <[_]>::len);
    208 + 8 * ids as u64 + RULE * sources.rules().len() as u64
};
const RULE: u64 = size_of::<(UserId, Rule)>() as u64;
const USUAL_LIST: u64 = 400;

/// Recently read lists. A user's streams get each change of the user's list.
#[derive(Debug)]
pub(crate) struct Followees {
    pub(crate) lists: ReadThrough<UserId, List>,
    streaming: Arc<Streaming>,
}

/// A change of users' lists under way. At its end first the cached lists are dropped, then the users' streams get it: the order
/// of the fields.
#[must_use = "the change ends when this is dropped"]
pub(crate) struct FolloweesChange<'a> {
    _changes: Vec<cache::CacheChange<UserId, List>>,
    _tells: Vec<Tells<'a>>,
}

struct Tells<'a> {
    followees: &'a Followees,
    store: &'a Store,
    user: UserId,
    authors: Vec<UserId>,
}

impl Followees {
    /// An empty cache.
    pub(crate) fn new(memory: CacheMemory, streaming: Arc<Streaming>) -> Self {
        Self { lists: ReadThrough::new(memory.of(Share::FOLLOWEES), USUAL_LIST, LIST), streaming }
    }

    /// Begins a change of the lists of these users that adds or removes the authors beside each. It ends when the result is
    /// dropped.
    pub(crate) fn change<'a>(
        &'a self,
        store: &'a Store,
        lists: impl IntoIterator<Item = (UserId, Vec<UserId>)>,
    ) -> FolloweesChange<'a> {
        let tells: Vec<_> =
            lists.into_iter().map(|(user, authors)| Tells { followees: self, store, user, authors }).collect();
        let changes = tells.iter().map(|tells| self.lists.change(tells.user)).collect();
        FolloweesChange { _changes: changes, _tells: tells }
    }
}

impl Drop for Tells<'_> {
    fn drop(&mut self) {
        let (streams, user) = (self.followees.streaming.streams(), self.user);
        // A first stream that is opened later reads the list later, too.
        if !streams.is_open(user) {
            return;
        }
        // With `include_own` users always see their own items.
        self.authors.retain(|author| *author != user);
        let shown = self.store.authors_among(user, &self.authors, Tier::Disk);
        let silences =
            self.store.silences(&self.authors.iter().map(|author| (user, *author)).collect::<Vec<_>>(), Tier::Disk);
        match shown.and_then(|shown| Ok((shown, silences?))) {
            Ok((shown, silences)) => {
                let change = |(source, is_silenced): (&UserId, bool)| ShownChange {
                    source: *source,
                    is_shown: shown.has(*source),
                    rule: shown.rule(*source),
                    is_silenced,
                };
                streams.change(user, &self.authors.iter().zip(silences).map(change).collect::<Vec<_>>());
            }
            Err(error) => {
                tracing::warn!(%error, %user,
                    "the authors shown to a user could not be read; the streams of the user are closed");
                streams.end(user);
            }
        }
    }
}

/// The sources of a reader, and what pages have found out about them. Copies share both.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) sources: ShownSources,
    pub(crate) standing: Arc<Standing>,
}

impl From<ShownSources> for List {
    fn from(sources: ShownSources) -> Self {
        Self { sources, standing: Arc::default() }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// The suspended ones, ascending, with the version of which they are.
    pub(crate) suspended: Mutex<Option<(Dependencies, Vec<UserId>)>>,
    /// Those who may have unpushed items, with the version of the store.
    pub(crate) unpushed: Mutex<Option<(u64, Few)>>,
}

/// Some of the sources.
pub(crate) type Few = Arc<[UserId]>;

/// The part of the sources that is kept at most. Of more, each page asks anew.
pub(crate) const KEPT_OF: usize = 4;
