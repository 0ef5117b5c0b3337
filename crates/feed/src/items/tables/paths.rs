//! Paths that items were taken off: a row for each, which hides the item's entries of this path in inboxes.

use super::index::{change_item, indexing};
use super::rows::live;
use crate::events;
use crate::rows::tables::TAKEN_OFF;
use crate::rows::values::Stored;
use crate::rows::walk::seconds;
use crate::store::Store;
use kv::{Tier, WriteBatch};
use model::error::Result;
use model::failpoint::Write;
use model::{ContentId, Event, Millis, UserId};

/// Takes an item off one of its paths, at a time: the item loses the path, its outbox row there and its part in the
/// source's count, in one change with the event. Entries in inboxes stay and are ignored. False, and nothing written, if
/// the item is missing or deleted, or has no such path. Acknowledges.
pub fn take_off(store: &Store, id: ContentId, source: UserId, at: Millis, event: &Event) -> Result<bool> {
    let Some(stored) = live(store, id)?.filter(|stored| stored.content.paths().any(|path| path == source)) else {
        return Ok(false);
    };
    let indexing = indexing(store, [&stored.content])?;
    let mut change = WriteBatch::default();
    let left = Stored { content: stored.content.clone().without_path(source), ..stored };
    change_item(&mut change, [Some(&stored), Some(&left)], &indexing)?;
    TAKEN_OFF.put(&mut change, (id, source), &at)?;
    events::tables::put(&mut change, event.clone())?;
    store.acknowledge(Write::Edit, change, Vec::new())?;
    Ok(true)
}

/// The sources of the paths that an item was taken off.
pub(crate) fn sources_taken_off(store: &Store, id: ContentId) -> Result<Vec<UserId>> {
    match store.memory.loaded.filter(&TAKEN_OFF).may_have(id.get()) {
        true => seconds(store.now(Tier::Disk), &TAKEN_OFF, id, None, usize::MAX),
        false => Ok(Vec::new()),
    }
}

/// Those of some paths that their items were taken off. Costs next to nothing if none was.
pub fn taken_off(
    store: &Store,
    paths: &mut dyn Iterator<Item = (ContentId, UserId)>,
    tier: Tier,
) -> Result<Vec<(ContentId, UserId)>> {
    if store.memory.loaded.filter(&TAKEN_OFF).is_empty() {
        return Ok(Vec::new());
    }
    let mut asked: Vec<_> = paths.filter(|(id, _)| store.memory.loaded.filter(&TAKEN_OFF).may_have(id.get())).collect();
    let mut rows = TAKEN_OFF.have(store.now(tier), &asked)?.into_iter();
    asked.retain(|_| rows.next() == Some(true));
    Ok(asked)
}
