//! The rows of items: live, deleted, purged.

use crate::items::tables::Kept;
use crate::rows::tables::{CONTENT, DELETED};
use crate::rows::values::Stored;
use crate::rows::values::deletions::Purged;
use crate::store::Store;
use kv::Tier;
use model::error::Result;
use model::{Content, ContentId, Millis};

/// The live items among `ids`, in their order; `None` for missing and deleted ones.
pub fn contents(store: &Store, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Content>>> {
    let stored = stored(store, ids, tier)?;
    Ok(stored.into_iter().map(|s| s.filter(|s| s.deleted_at.is_none()).map(|s| s.content)).collect())
}

/// The items among `ids` that are not purged, in their order, each with the time of its deletion if it is deleted.
pub fn kept(store: &Store, ids: &[ContentId]) -> Result<Vec<Option<Kept>>> {
    let stored = stored(store, ids, Tier::Disk)?.into_iter();
    Ok(stored.map(|stored| stored.map(|Stored { content, deleted_at }| (content, deleted_at))).collect())
}

/// Which of `ids` are deleted, in their order. Costs next to nothing if none is.
pub fn deleted(store: &Store, ids: &[ContentId], tier: Tier) -> Result<Vec<bool>> {
    let mut deleted: Vec<_> = ids.iter().map(|id| store.memory.loaded.filter(&DELETED).may_have(id.get())).collect();
    if deleted.contains(&true) {
        let asked = ids.iter().zip(&deleted).filter(|(_, may)| **may).map(|(id, _)| id);
        let rows = DELETED.have(store.now(tier), asked)?;
        for (may, has) in deleted.iter_mut().filter(|may| **may).zip(rows) {
            *may = has;
        }
    }
    Ok(deleted)
}

/// An item as it is stored, unless it is deleted.
pub(crate) fn live(store: &Store, id: ContentId) -> Result<Option<Stored>> {
    Ok(stored(store, &[id], Tier::Disk)?.pop().flatten().filter(|stored| stored.deleted_at.is_none()))
}

/// Items as they are stored.
pub(crate) fn stored(store: &Store, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Stored>>> {
    CONTENT.get_many(store.now(tier), ids)
}

/// The rows of purged items that have an author.
pub(crate) fn purged_among(store: &Store, ids: &[ContentId]) -> Result<Vec<(ContentId, Millis, Purged)>> {
    let deletions = DELETED.get_many(store.now(Tier::Disk), ids)?;
    let found = ids.iter().zip(deletions).filter_map(|(id, row)| row.and_then(|row| Some((*id, row.at, row.purged?))));
    Ok(found.collect())
}

pub(crate) fn is_deleted(store: &Store, id: ContentId, tier: Tier) -> Result<bool> {
    Ok(store.memory.loaded.filter(&DELETED).may_have(id.get()) && DELETED.has(store.now(tier), id)?)
}

/// Whether an item is purged.
pub(crate) fn is_purged(store: &Store, id: ContentId, tier: Tier) -> Result<bool> {
    Ok(is_deleted(store, id, tier)? && !CONTENT.has(store.now(tier), id)?)
}
