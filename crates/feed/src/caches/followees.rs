//! Cached lists of the authors whose content a user is shown in the home timeline.

use std::sync::Arc;

use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::sync::Latest;
use model::versions::Dependencies;
use model::{Rule, ShownSources, UserId};

/// Approximate bytes of a list: the ids, two parts of them that may be kept, the rules, the silenced authors, and their
/// containers.
const LIST: fn(&List) -> u64 = |List { sources, .. }| {
    let ids = sources.len() + 2 * (sources.len() / KEPT_OF) + sources.silenced().map_or(0, <[_]>::len);
    208 + 8 * ids as u64 + RULE * sources.rules().len() as u64
};
const RULE: u64 = size_of::<(UserId, Rule)>() as u64;
const USUAL_LIST: u64 = 400;

/// Recently read lists.
pub(crate) type Followees = ReadThrough<UserId, List>;

/// An empty cache.
pub(crate) fn followees(memory: CacheMemory) -> Followees {
    ReadThrough::new(memory.of(Share::FOLLOWEES), USUAL_LIST, LIST)
}

/// The sources of a reader, and what pages have found out about them. Copies share both.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) sources: ShownSources,
    pub(crate) flags: Arc<SourceFlags>,
}

impl From<ShownSources> for List {
    fn from(sources: ShownSources) -> Self {
        Self { sources, flags: Arc::default() }
    }
}

/// The suspended ones among the sources, ascending, with the version of which they are.
pub(crate) type Suspended = (Dependencies, Vec<UserId>);

#[derive(Debug, Default)]
pub(crate) struct SourceFlags {
    pub(crate) suspended: Latest<Option<Arc<Suspended>>>,
    /// Those who may have unpushed items, with the version of the store.
    pub(crate) unpushed: Latest<Option<(u64, Few)>>,
}

/// Some of the sources.
pub(crate) type Few = Arc<[UserId]>;

/// The part of the sources that is kept at most. Of more, each page asks anew.
pub(crate) const KEPT_OF: usize = 4;
