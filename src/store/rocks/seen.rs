//! A bounded memory of which keys a sparse table has.

use fastbloom::AtomicBloomFilter;
use rocksdb::ReadOptions;

use super::tables::Table;
use super::{Rocks, keys, storage};
use crate::error::Result;

/// Knows for sure that a key is *not* in a table, and else that it may be.
///
/// 8 MiB and 4 hashes: one wrong guess in a thousand at 2.7 million keys. Beyond that more reads
/// go to the table; none is ever answered wrongly. A key is added after its row is written and
/// before that is acknowledged, and never taken back.
pub(super) struct Seen(AtomicBloomFilter);

impl Default for Seen {
    fn default() -> Self {
        Self(AtomicBloomFilter::with_num_bits(8 << 23).seed(&0).hashes(4))
    }
}

impl Seen {
    /// Adds every key of a table.
    pub(super) fn fill(&self, store: &Rocks, table: Table) -> Result<()> {
        let mut rows = store.db.raw_iterator_cf_opt(store.family(table)?, ReadOptions::default());
        rows.seek_to_first();
        while let Some(key) = rows.key().and_then(keys::number) {
            self.add(key);
            rows.next();
        }
        rows.status().map_err(storage)
    }

    pub(super) fn add(&self, key: u64) {
        self.0.insert(&key);
    }

    pub(super) fn may_have(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}
