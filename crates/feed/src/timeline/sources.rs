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

/// Authors whose content a user is shown in the home timeline: the followees without restrictions and without the members
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
    let kept = &list.flags.suspended;
    if let Some(kept) = kept.get().filter(|kept| read.feed.versions.are_unchanged(&kept.0)) {
        return Ok(kept.1.clone());
    }
    // Before the look: a suspension that begins later is seen by the next page.
    let present = read.feed.versions.now([Thing::Suspended]);
    let found = read.suspended_among(list.sources.iter().copied())?;
    if present.are_settled() && is_few(&found, list) {
        kept.set(Some(Arc::new((present, found.clone()))));
    }
    Ok(found)
}

/// Those of the sources of a list who may have unpushed items, ascending.
pub(crate) fn unpushed_sources(read: Read<'_>, list: &List) -> Few {
    let kept = &list.flags.unpushed;
    let version = inbox::tables::unpushed_version(&read.feed.store);
    if let Some((_, found)) = kept.get().filter(|(since, _)| *since == version) {
        return found;
    }
    let (version, found) = inbox::tables::may_have_unpushed(&read.feed.store, &list.sources);
    let is_few = is_few(&found, list);
    let found = Few::from(found);
    if is_few {
        kept.set(Some((version, Arc::clone(&found))));
    }
    found
}

fn is_few(found: &[UserId], list: &List) -> bool {
    found.len() <= list.sources.len() / KEPT_OF
}
