//! The counts of items, in memory beside their table.

use super::kinds::{Kinds, Known};
use crate::rows::tables::ITEM_COUNTS;
use crate::rows::values::ItemSteps;
use crate::rows::{keys, values};
use kv::{Database, Tier};
use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::error::{Error, Result};
use model::{ContentId, ItemCounts};

/// Bytes of the counts of one item with at most two kinds of reactions.
const BYTES: u64 = 16 + size_of::<ItemCounts>() as u64;

/// Counts that were read recently and often; also of older items without a row, which nobody has counted yet.
pub(crate) type ItemCountsCache = ReadThrough<ContentId, ItemCounts>;

/// An empty cache of counts.
pub(crate) fn cache(memory: CacheMemory) -> ItemCountsCache {
    ReadThrough::new(memory.of(Share::ITEM_COUNTS), BYTES, |counts| BYTES + counts.reactions.more_bytes())
}

/// The counts of items, in the order of `ids`.
pub(crate) fn of(
    database: &Database,
    (cache, kinds): (&ItemCountsCache, &Kinds),
    ids: &[ContentId],
    tier: Tier,
) -> Result<Vec<ItemCounts>> {
    // Not cached: they would fill the cache.
    if ids.iter().all(|id| database.now(tier).lacks(&ITEM_COUNTS, &keys::id(id.get()))) {
        return Ok(vec![ItemCounts::default(); ids.len()]);
    }
    let load = |missing: &[ContentId]| {
        let rows = database.get_many(&ITEM_COUNTS, missing.iter().map(|id| keys::id(id.get())), tier)?;
        let known = kinds.known();
        let counts = missing.iter().zip(rows).map(|(id, row)| {
            let Some(row) = row else { return Ok(Some(ItemCounts::default())) };
            read(&row, &known).map(Some).ok_or_else(|| Error::Corrupt(format!("counters of content {id}")))
        });
        counts.collect()
    };
    let found = cache.get_many(ids, |_| {}, load)?;
    Ok(found.into_iter().map(Option::unwrap_or_default).collect())
}

/// The counts in a row; `None` if it cannot be read, or a count is below zero. Kinds of reactions that are not shown are
/// left out.
fn read(row: &[u8], known: &Known) -> Option<ItemCounts> {
    let ItemSteps { pointing, reactions } = values::read_item_counts(row)?;
    let [comments, reposts] = pointing.map(|count| u64::try_from(count).ok());
    let mut counts = ItemCounts { comments: comments?, reposts: reposts?, ..ItemCounts::default() };
    for (byte, count) in reactions {
        let count = u64::try_from(count).ok()?;
        if let Some(kind) = known.kind(byte) {
            counts.reactions.set(kind, count);
        }
    }
    Some(counts)
}
