//! The counts of items.

use crate::memory::item_counts;
use crate::store::Store;
use kv::Tier;
use model::error::Result;
use model::{ContentId, ItemCounts};

/// The counts of items, in the order of `ids`. Comments on and reposts of a missing or deleted item count too;
/// those of a purged item do not. Never older than the last acknowledged change.
pub fn item_counts(store: &Store, ids: &[ContentId], tier: Tier) -> Result<Vec<ItemCounts>> {
    item_counts::of(store, (&store.memory.shown.item_counts, &store.memory.kinds.reactions), ids, tier)
}
