//! Purges of what belonged to users who are erased.

use std::collections::BTreeSet;

use super::tables;
use crate::core::Core;
use crate::inbox::worker::purge_item;
use crate::items::tables::{FINAL, Kept};
use crate::{follows, inbox, items};
use kv::Tier;
use model::error::Result;
use model::{Cursor, Span, UserId, Work};

/// Readers whose inboxes are looked through before a pause.
const READERS_AT_ONCE: usize = 100;
/// Items that are purged before a pause.
const ITEMS_AT_ONCE: usize = 100;
/// Most sources in memory whose followers' inboxes are looked through.
const MOST_SOURCES: usize = 100_000;

/// Ends the fan-outs that name a user whose items and paths are gone. The same id may be a new user soon, whose followers
/// would get the items.
pub(crate) fn drop_fan_outs(feed: &Core, user: UserId) -> Result<()> {
    for job in inbox::tables::jobs(&feed.store)? {
        if let Work::FanOut { entry } = job.work
            && (entry.source == user || entry.author == user)
        {
            inbox::tables::drop_job(&feed.store, job.id)?;
        }
    }
    feed.backlog.forget_pending(user);
    Ok(())
}

/// Whether a job on disk names a user.
pub(crate) fn has_jobs_of(feed: &Core, user: UserId) -> Result<bool> {
    Ok(inbox::tables::jobs(&feed.store)?.iter().any(|job| match job.work {
        Work::FanOut { entry } => entry.source == user || entry.author == user,
        Work::Settle { user: reader, source } => reader == user || source == user,
        Work::Rebuild { user: reader } => reader == user,
    }))
}

/// Purges the items of a user who is erased, once they are deleted for good. First it removes their entries from the
/// inboxes of this server to which they came through other sources; those of the own path leave with the follows. Each
/// node purges its own. Asks after each part whether it goes on; false if not.
pub(crate) fn purge_erased(feed: &Core, user: UserId, mut goes_on: impl FnMut() -> bool) -> Result<bool> {
    let mut sources = BTreeSet::new();
    for is_purge in [false, true] {
        let mut before: Option<Cursor> = None;
        loop {
            let span = Span { before, after: None };
            let places = items::tables::unlisted(&feed.store, user, span.newest(ITEMS_AT_ONCE), Tier::Disk)?;
            // Items of others with a path through the user lose it by a part. Those that are purged already are named, too.
            let places_of: Vec<_> = places.iter().map(|place| place.id).collect();
            let kept = items::tables::kept(&feed.store, &places_of)?;
            let is_other = |kept: &Option<Kept>| kept.as_ref().is_some_and(|(item, _)| item.author != user);
            let own = places_of.into_iter().zip(kept).filter(|(_, kept)| !is_other(kept));
            let items: Vec<_> = own.map(|(id, _)| id).collect();
            if is_purge {
                items
                    .iter()
                    .try_for_each(|item| purge_item(&feed.store, &feed.streaming, *item, FINAL, || true).map(drop))?;
            } else {
                sources.extend(tables::erased_paths(&feed.store, &items)?);
                let is_over = places.len() < ITEMS_AT_ONCE;
                if (is_over || sources.len() >= MOST_SOURCES)
                    && !clear_inboxes(feed, user, &std::mem::take(&mut sources), &mut goes_on)?
                {
                    return Ok(false);
                }
            }
            if !goes_on() {
                return Ok(false);
            }
            match places.last() {
                Some(last) => before = Some(*last),
                None => break,
            }
        }
    }
    Ok(true)
}

/// Removes the entries of an author from the inboxes of the followers of some sources.
fn clear_inboxes(
    feed: &Core,
    author: UserId,
    sources: &BTreeSet<UserId>,
    goes_on: &mut impl FnMut() -> bool,
) -> Result<bool> {
    for source in sources {
        let mut after = None;
        loop {
            let mut readers = follows::tables::followers_after(&feed.store, *source, after, READERS_AT_ONCE)?;
            let Some(last) = readers.last() else { break };
            after = Some(*last);
            readers.retain(|reader| feed.keeps_inbox_of(*reader));
            tables::clear_inboxes(&feed.store, &readers, author)?;
            if !goes_on() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
