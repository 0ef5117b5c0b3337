//! The few sources of a reader of whom a page must ask more: those who are suspended, and those who may have unpushed items.
//! They are kept with the list of sources until they may change, so that a page does not ask about each source.

use std::sync::Arc;

use super::tables;
use crate::caches::followees::{Few, KEPT_OF, List};
use crate::inbox;
use crate::read::Read;
use model::error::Result;
use model::versions::Thing;
use model::{ShownSources, UserId};

/// Authors whose content a user is shown in the home timeline: the followees without barriers and without the members
/// of exclusive lists, and the user with `include_own`. With the rules of the follows.
pub fn authors(read: Read<'_>, user: UserId) -> Result<ShownSources> {
    Ok(listed_authors(read, user)?.sources)
}

pub(super) fn listed_authors(read: Read<'_>, user: UserId) -> Result<List> {
    read.feed.followees.get(user, || {
        let authors = tables::authors(&read.feed.store, user, read.tier)?;
        Ok(if read.feed.config.timeline.include_own { authors.with(user) } else { authors }.into())
    })
}

/// The suspended ones among the sources of a list, and those who are being erased, ascending.
pub(crate) fn suspended_sources(read: Read<'_>, list: &List) -> Result<Vec<UserId>> {
    let kept = &list.standing.suspended;
    if let Some((since, found)) = &*kept.lock()
        && read.feed.versions.are_unchanged(since)
    {
        return Ok(found.clone());
    }
    // Before the look: a suspension that begins later is seen by the next page.
    let present = read.feed.versions.now([Thing::Suspended]);
    let found = read.suspended_among(list.sources.iter().copied())?;
    if present.are_settled() && is_few(&found, list) {
        *kept.lock() = Some((present, found.clone()));
    }
    Ok(found)
}

/// Those of the sources of a list who may have unpushed items, ascending.
pub(crate) fn unpushed_sources(read: Read<'_>, list: &List) -> Few {
    let kept = &list.standing.unpushed;
    let version = inbox::tables::unpushed_version(&read.feed.store);
    if let Some((since, found)) = &*kept.lock()
        && *since == version
    {
        return Arc::clone(found);
    }
    let (version, found) = inbox::tables::may_have_unpushed(&read.feed.store, &list.sources);
    let is_few = is_few(&found, list);
    let found = Few::from(found);
    if is_few {
        *kept.lock() = Some((version, Arc::clone(&found)));
    }
    found
}

fn is_few(found: &[UserId], list: &List) -> bool {
    found.len() <= list.sources.len() / KEPT_OF
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feed;
    use crate::backlog::Backlog;
    use crate::store::Store;
    use crate::streaming::Streaming;
    use crate::writer::command::SetSuspension;
    use config::Config;
    use model::ShownSources;
    use model::store::Tier;
    use model::{ContentId, Cursor, Entry, HostId, JobId, Reach, Work};

    #[test]
    fn what_is_kept_goes_with_the_changes() {
        let store = Arc::new(Store::in_memory().expect("opens"));
        let (backlog, streaming) = (Arc::new(Backlog::new(100)), Arc::new(Streaming::new(1000)));
        let feed = Feed::new(Arc::clone(&store), backlog, streaming, &Config::default()).expect("events");
        let user = |raw| UserId::new(raw).expect("in range");
        let list = List::from(ShownSources::new((1..=8).map(user).collect::<Vec<_>>(), Vec::new()));
        let suspended = || suspended_sources(feed.read(), &list).expect("reads");
        let suspend =
            |raw, on| _ = feed.submit(SetSuspension { user: HostId::Number(raw), suspended: on }).expect("changes");
        for kept in [3, 4] {
            assert_eq!(suspended(), []);
            suspend(kept, true);
            suspend(9, true);
            assert_eq!((suspended(), suspended()), (vec![user(kept)], vec![user(kept)]));
            suspend(kept, false);
        }
        (1..=3).for_each(|raw| suspend(raw, true));
        assert_eq!(suspended(), [1, 2, 3].map(user), "more than are kept");

        let unpushed = || unpushed_sources(feed.read(), &list);
        let give_up = |raw| {
            let entry = Entry::plain(Cursor { at: 1, id: ContentId::MIN }, user(raw));
            let job = JobId { lane: Work::FanOut { entry }.lane(), seq: raw };
            inbox::tables::begin_fan_out(&store, job, entry, Reach::Nobody).expect("writes");
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
        let few = inbox::tables::authors_with_unpushed(&store, &unpushed(), None, true, Tier::Disk).expect("reads");
        assert_eq!(
            few,
            inbox::tables::authors_with_unpushed(&store, &list.sources, None, true, Tier::Disk).expect("reads")
        );
    }
}
