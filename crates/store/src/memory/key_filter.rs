//! A filter in memory, of bounded size, over the keys of a sparse table.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastbloom::AtomicBloomFilter;
use rocksdb::properties;

use crate::Rocks;
use crate::rows::keys;
use crate::rows::tables::Table;
use crate::rows::walk::go_on;
use model::Fill;
use model::error::Result;
use model::store::FilterUsage;

/// Tells for sure that a key is *not* in a table; else the key may be in it.
///
/// With 8 bits a key and 4 hashes, one absent key in forty passes. The size is for twice the keys at start, and for
/// [`MIN_KEYS`] at least. Beyond that, more reads go to the table; no answer is ever wrong. A key is added before its
/// row is acknowledged, and never removed.
pub(crate) struct KeyFilter {
    filter: AtomicBloomFilter,
    /// Whether any key was added. If not, there is no look-up.
    any: AtomicBool,
    /// The number of keys added. A key added again seldom counts.
    keys: AtomicU64,
}

/// The filter's least and greatest size in keys: 1 MiB and 64 MiB of memory.
const MIN_KEYS: usize = 1 << 20;
const MAX_KEYS: usize = 64 << 20;
const BITS_PER_KEY: usize = 8;

impl Default for KeyFilter {
    fn default() -> Self {
        Self::for_keys(0)
    }
}

impl KeyFilter {
    /// An empty filter, sized for so many keys.
    pub(crate) fn for_keys(keys: usize) -> Self {
        let bits = BITS_PER_KEY * keys.clamp(MIN_KEYS, MAX_KEYS);
        let filter = AtomicBloomFilter::with_num_bits(bits).seed(&0).hashes(4);
        Self { filter, any: AtomicBool::new(false), keys: AtomicU64::new(0) }
    }

    /// A filter with every key of a table.
    pub(crate) fn of(store: &Rocks, table: Table) -> Result<Self> {
        let seen = Self::for_keys(2 * store.figure(table, properties::ESTIMATE_NUM_KEYS)? as usize);
        store.each_row(table, &[], |key, _| {
            keys::number(key).into_iter().for_each(|key| seen.add(key));
            go_on(true)
        })?;
        Ok(seen)
    }

    pub(crate) fn add(&self, key: u64) {
        if !self.filter.insert(&key) {
            self.keys.fetch_add(1, Ordering::Relaxed);
        }
        self.any.store(true, Ordering::Release);
    }

    /// The filter in figures. `name` is the kind of its keys.
    pub(crate) fn usage(&self, name: &'static str) -> FilterUsage {
        let bits = self.filter.num_bits();
        let keys = Fill { used: self.keys.load(Ordering::Relaxed), limit: (bits / BITS_PER_KEY) as u64 };
        FilterUsage { name, keys, bytes: (bits / 8) as u64 }
    }

    /// Whether no key was ever added.
    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    pub(crate) fn may_have(&self, key: u64) -> bool {
        !self.is_empty() && self.filter.contains(&key)
    }
}
