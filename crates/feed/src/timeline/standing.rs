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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feed;
    use crate::backlog::Backlog;
    use crate::streaming::Streaming;
    use config::Config;
    use model::store::Tier;
    use model::{ContentId, Cursor, Entry, HostId, JobId, Reach, Work};
    use store::Store;

    #[test]
    fn what_is_kept_goes_with_the_changes() {
        let store = Arc::new(Store::in_memory().expect("opens"));
        let (backlog, streaming) = (Arc::new(Backlog::new(100)), Arc::new(Streaming::new(1000)));
        let feed = Feed::new(Arc::clone(&store), backlog, streaming, &Config::default()).expect("events");
        let user = |raw| UserId::new(raw).expect("in range");
        let list = List::from(ShownSources::new((1..=8).map(user).collect::<Vec<_>>(), Vec::new()));
        let suspended = || feed.read().suspended_sources(&list).expect("reads");
        let suspend = |raw, on| _ = feed.set_suspension(HostId::Number(raw), on).expect("changes");
        for kept in [3, 4] {
            assert_eq!(suspended(), []);
            suspend(kept, true);
            suspend(9, true);
            assert_eq!((suspended(), suspended()), (vec![user(kept)], vec![user(kept)]));
            suspend(kept, false);
        }
        (1..=3).for_each(|raw| suspend(raw, true));
        assert_eq!(suspended(), [1, 2, 3].map(user), "more than are kept");

        let unpushed = || feed.read().unpushed_sources(&list);
        let give_up = |raw| {
            let entry = Entry::plain(Cursor { at: 1, id: ContentId::MIN }, user(raw));
            let job = JobId { lane: Work::FanOut { entry }.lane(), seq: raw };
            store.begin_fan_out(job, entry, Reach::Nobody).expect("writes");
        };
        assert_eq!(unpushed()[..], []);
        for raw in [2, 9, 5] {
            give_up(raw);
            give_up(raw);
            let asked = unpushed();
            assert!(Arc::ptr_eq(&asked, &unpushed()), "kept");
            let expected = if raw == 5 { vec![user(2), user(5)] } else { vec![user(2)] };
            assert_eq!(asked[..], expected);
        }
        give_up(6);
        assert_eq!(unpushed()[..], [2, 5, 6].map(user), "more than are kept");
        let few = store.authors_with_unpushed(&unpushed(), None, true, Tier::Disk).expect("reads");
        assert_eq!(few, store.authors_with_unpushed(&list.sources, None, true, Tier::Disk).expect("reads"));
    }
}
