//! The few sources of a reader of whom a page must ask more: those who are suspended, and those who may have unpushed items.
//! They are kept with the list of sources until they may change, so that a page does not ask about each source.

use std::sync::Arc;

use super::read::Read;
use model::error::Result;
use model::sync::Mutex;
use model::versions::{Dependencies, Thing};
use model::{ShownSources, UserId};

/// The sources of a reader, and what pages have found out about them. Copies share both.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) sources: ShownSources,
    standing: Arc<Standing>,
}

impl From<ShownSources> for List {
    fn from(sources: ShownSources) -> Self {
        Self { sources, standing: Arc::default() }
    }
}

#[derive(Debug, Default)]
struct Standing {
    /// The suspended ones, ascending, with the version of which they are.
    suspended: Mutex<Option<(Dependencies, Vec<UserId>)>>,
    /// Those who may have unpushed items, with the version of the store.
    unpushed: Mutex<Option<(u64, Few)>>,
}

/// Some of the sources.
pub(crate) type Few = Arc<[UserId]>;

/// The part of the sources that is kept at most. Of more, each page asks anew.
pub(crate) const KEPT_OF: usize = 4;

impl Read<'_> {
    /// The suspended ones among the sources of a list, and those who are being erased, ascending.
    pub(crate) fn suspended_sources(&self, list: &List) -> Result<Vec<UserId>> {
        let kept = &list.standing.suspended;
        if let Some((since, found)) = &*kept.lock()
            && self.feed.versions.are_unchanged(since)
        {
            return Ok(found.clone());
        }
        // Before the look: a suspension that begins later is seen by the next page.
        let present = self.feed.versions.now([Thing::Suspended]);
        let found = self.suspended_among(list.sources.iter().copied())?;
        if present.are_settled() && is_few(&found, list) {
            *kept.lock() = Some((present, found.clone()));
        }
        Ok(found)
    }

    /// Those of the sources of a list who may have unpushed items, ascending.
    pub(crate) fn unpushed_sources(&self, list: &List) -> Few {
        let kept = &list.standing.unpushed;
        let version = self.feed.store.unpushed_version();
        if let Some((since, found)) = &*kept.lock()
            && *since == version
        {
            return Arc::clone(found);
        }
        let (version, found) = self.feed.store.may_have_unpushed(&list.sources);
        let is_few = is_few(&found, list);
        let found = Few::from(found);
        if is_few {
            *kept.lock() = Some((version, Arc::clone(&found)));
        }
        found
    }
}

fn is_few(found: &[UserId], list: &List) -> bool {
    found.len() <= list.sources.len() / KEPT_OF
}
