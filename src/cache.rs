//! A bounded cache that counts what it lacked and what it dropped.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache as Inner;
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, Weighter};

use crate::model::{CacheUsage, Fill};

/// About what an entry costs beside what it holds, bytes.
pub const OVERHEAD: u64 = 48;

/// The memory of an entry.
#[derive(Debug, Clone)]
struct Bytes<V>(fn(&V) -> u64);

impl<K, V> Weighter<K, V> for Bytes<V> {
    fn weight(&self, _: &K, value: &V) -> u64 {
        OVERHEAD + (self.0)(value)
    }
}

#[derive(Debug, Clone, Default)]
struct Evictions(Arc<AtomicU64>);

impl<K, V> Lifecycle<K, V> for Evictions {
    type RequestState = ();

    fn on_evict(&self, _: &mut (), _: K, _: V) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Keeps what was used lately and often, up to a limit of memory.
pub struct Cache<K, V> {
    entries: Inner<K, V, Bytes<V>, DefaultHashBuilder, Evictions>,
    limit: u64,
    misses: AtomicU64,
    evictions: Evictions,
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// An empty cache for `limit` bytes, of which a value takes as many as `bytes` says and
    /// [`OVERHEAD`] more. `usual` is about what `bytes` says of most.
    pub fn new(limit: u64, usual: u64, bytes: fn(&V) -> u64) -> Self {
        let evictions = Evictions::default();
        let about = (limit / (OVERHEAD + usual)) as usize;
        let entries = Inner::with(about, limit, Bytes(bytes), DefaultHashBuilder::default(), evictions.clone());
        Self { entries, limit, misses: AtomicU64::new(0), evictions }
    }

    /// What is kept under a key.
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<V> {
        let found = self.entries.get(key);
        if found.is_none() {
            self.misses.fetch_add(1, Ordering::Relaxed);
        }
        found
    }

    /// Keeps a value, and may drop others for it.
    pub fn insert(&self, key: K, value: V) {
        self.entries.insert(key, value);
    }

    /// Drops what is kept under a key.
    pub fn remove(&self, key: &K) {
        self.entries.remove(key);
    }

    /// Drops everything.
    pub fn clear(&self) {
        self.entries.clear();
    }

    /// The cache in figures.
    pub fn usage(&self) -> CacheUsage {
        CacheUsage {
            entries: self.entries.len() as u64,
            bytes: Fill { used: self.entries.weight(), limit: self.limit },
            misses: self.misses.load(Ordering::Relaxed),
            evictions: self.evictions.0.load(Ordering::Relaxed),
        }
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_more_than_the_limit_and_all_of_it_counted() {
        let cache: Cache<u64, Arc<[u64]>> = Cache::new(1 << 20, 80, |list| 8 * list.len() as u64);
        assert_eq!(cache.get(&1), None);
        for key in 0..100_000 {
            cache.insert(key, [key; 10].as_slice().into());
        }
        let usage = cache.usage();
        assert_eq!(usage.bytes, Fill { used: usage.entries * (OVERHEAD + 80), limit: 1 << 20 });
        assert!(usage.bytes.used <= usage.bytes.limit && usage.bytes.used > usage.bytes.limit / 2, "{usage:?}");
        assert_eq!((usage.misses, usage.evictions), (1, 100_000 - usage.entries));
        cache.clear();
        assert_eq!(cache.usage().bytes.used, 0);
    }
}
