//! The rows of items: live, deleted, purged.

use crate::items::tables::Kept;
use crate::rows::tables::{CONTENT, DELETED};
use crate::rows::values::Stored;
use crate::rows::values::deletions::Purged;
use crate::rows::{keys, values};
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
    let mut deleted: Vec<_> = ids.iter().map(|id| store.memory.loaded.deleted.may_have(id.get())).collect();
    if deleted.contains(&true) {
        let asked = ids.iter().zip(&deleted).filter(|(_, may)| **may).map(|(id, _)| keys::id(id.get()));
        let rows = store.get_many(DELETED, asked, tier)?;
        for (may, row) in deleted.iter_mut().filter(|may| **may).zip(rows) {
            *may = row.is_some();
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
    let rows = store.get_many(CONTENT, ids.iter().map(|id| keys::id(id.get())), tier)?;
    ids.iter().zip(rows).map(|(id, row)| row.map(|bytes| values::read_content(*id, &bytes)).transpose()).collect()
}

/// The rows of purged items that have an author.
pub(crate) fn purged_among(store: &Store, ids: &[ContentId]) -> Result<Vec<(ContentId, Millis, Purged)>> {
    let rows = store.get_many(DELETED, ids.iter().map(|id| keys::id(id.get())), Tier::Disk)?;
    let mut found = Vec::new();
    for (id, row) in ids.iter().zip(rows) {
        if let Some((deleted_at, Some(purged))) = row.map(|row| values::deletions::read_deletion(&row)).transpose()? {
            found.push((*id, deleted_at, purged));
        }
    }
    Ok(found)
}

pub(crate) fn is_deleted(store: &Store, id: ContentId, tier: Tier) -> Result<bool> {
    Ok(store.memory.loaded.deleted.may_have(id.get()) && store.get(DELETED, &keys::id(id.get()), tier)?.is_some())
}

/// Whether an item is purged.
pub(crate) fn is_purged(store: &Store, id: ContentId, tier: Tier) -> Result<bool> {
    Ok(is_deleted(store, id, tier)? && store.get(CONTENT, &keys::id(id.get()), tier)?.is_none())
}
