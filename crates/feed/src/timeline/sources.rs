//! The few sources of a reader of whom a page must ask more: those who are suspended, and those who may have unpushed items.
//! They are kept with the list of sources until they may change, so that a page does not ask about each source.

use std::sync::Arc;

use crate::caches::followees::{Few, KEPT_OF, List};
use crate::read::Read;
use model::UserId;
use model::error::Result;
use model::versions::Thing;

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
    let version = read.feed.store.unpushed_version();
    if let Some((since, found)) = &*kept.lock()
        && *since == version
    {
        return Arc::clone(found);
    }
    let (version, found) = read.feed.store.may_have_unpushed(&list.sources);
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
