//! A bounded cache that counts misses and evictions, and a read-through cache on top that is never stale.

pub mod memory;

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use quick_cache::sync::Cache as Inner;
use quick_cache::{DefaultHashBuilder, Equivalent, Lifecycle, Weighter};

use crate::error::Result;
use crate::stripes::Striped;
use crate::sync::Mutex;
use crate::{CacheUsage, Fill};

/// Approximate bytes of an entry beside its content.
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

/// Keeps entries used recently and often, up to a limit of memory.
pub struct Cache<K, V> {
    entries: Inner<K, V, Bytes<V>, DefaultHashBuilder, Evictions>,
    limit: u64,
    hits: Hits,
    misses: AtomicU64,
    evictions: Evictions,
}

/// Counts look-ups that find something: the most frequent event of all, so threads mostly have a count of their own.
#[derive(Default)]
struct Hits([Alone; 16]);

/// A count that shares its cache line with no other.
#[derive(Default)]
#[repr(align(64))]
struct Alone(AtomicU64);

impl Hits {
    fn add(&self, n: u64) {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static PLACE: usize = THREADS.fetch_add(1, Ordering::Relaxed);
        }
        let place = PLACE.with(|place| place % self.0.len());
        self.0[place].0.fetch_add(n, Ordering::Relaxed);
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|count| count.0.load(Ordering::Relaxed)).sum()
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// An empty cache for `limit` bytes. A value takes `bytes` of them and [`OVERHEAD`] more. `usual` is about the
    /// `bytes` of most values.
    pub fn new(limit: u64, usual: u64, bytes: fn(&V) -> u64) -> Self {
        let evictions = Evictions::default();
        let about = (limit / (OVERHEAD + usual)) as usize;
        let entries = Inner::with(about, limit, Bytes(bytes), DefaultHashBuilder::default(), evictions.clone());
        Self { entries, limit, hits: Hits::default(), misses: AtomicU64::new(0), evictions }
    }

    /// The value of a key, if cached.
    pub fn get<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q) -> Option<V> {
        self.get_if(key, |_| true)
    }

    /// The value of a key, if cached and still right. Otherwise it counts as not cached.
    pub fn get_if<Q: Hash + Equivalent<K> + ?Sized>(&self, key: &Q, is_right: impl FnOnce(&V) -> bool) -> Option<V> {
        let found = self.entries.get(key).filter(is_right);
        self.count(1, usize::from(found.is_some()));
        found
    }

    /// The values of several keys.
    fn get_each(&self, keys: &[K]) -> Vec<Option<V>> {
        let found: Vec<_> = keys.iter().map(|key| self.entries.get(key)).collect();
        self.count(keys.len(), found.iter().flatten().count());
        found
    }

    fn count(&self, asked: usize, found: usize) {
        if found > 0 {
            self.hits.add(found as u64);
        }
        if asked > found {
            self.misses.fetch_add((asked - found) as u64, Ordering::Relaxed);
        }
    }

    /// Keeps a value, and may drop others for it.
    pub fn insert(&self, key: K, value: V) {
        self.entries.insert(key, value);
    }

    /// Drops the value of a key.
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
            hits: self.hits.sum(),
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

/// A read-through cache that never serves a value older than the last acknowledged change.
///
/// A writer announces a change before it writes; that drops the value. A loader caches a value only if no change was
/// under way when it began, and none has begun or ended since. No lock is held while the store is read or written.
///
/// Absence is not cached, so a change that creates a key needs no announcement.
#[derive(Debug)]
pub struct ReadThrough<K, V> {
    values: Cache<K, V>,
    changes: Arc<ChangesByKey>,
}

/// Several keys share a count; then a change of one looks like a change of the others, too.
type ChangesByKey = Striped<Mutex<Changes>>;

#[derive(Debug, Default)]
struct Changes {
    under_way: u64,
    ended: u64,
}

impl Changes {
    /// A number that differs after each change; `None` while one is under way.
    fn version(&self) -> Option<u64> {
        (self.under_way == 0).then_some(self.ended)
    }
}

impl<K: Copy + Eq + Hash + Into<u64>, V: Clone> ReadThrough<K, V> {
    /// An empty cache for `limit` bytes; `usual` and `bytes` as in [`Cache::new`].
    pub fn new(limit: u64, usual: u64, bytes: fn(&V) -> u64) -> Self {
        Self { values: Cache::new(limit, usual, bytes), changes: Arc::default() }
    }

    /// Caches a value that was loaded at this version, if it is still fresh.
    pub fn keep(&self, key: K, value: &V, before: Option<u64>) {
        // No change begins or ends meanwhile.
        let changes = self.changes.of(key.into()).lock();
        if before.is_some() && changes.version() == before {
            self.values.insert(key, value.clone());
        }
    }

    /// The cached value, or the loaded one.
    pub fn get(&self, key: K, load: impl FnOnce() -> Result<V>) -> Result<V> {
        if let Some(value) = self.values.get(&key) {
            return Ok(value);
        }
        let before = self.version(key);
        let value = load()?;
        self.keep(key, &value, before);
        Ok(value)
    }

    /// The values of `keys`, in their order; `None` for a missing one. Values not cached are loaded in one call, each
    /// once; `cached` gets the others.
    pub fn get_many(
        &self,
        keys: &[K],
        cached: impl FnMut(&V),
        load: impl FnOnce(&[K]) -> Result<Vec<Option<V>>>,
    ) -> Result<Vec<Option<V>>> {
        let mut values = self.values.get_each(keys);
        values.iter().flatten().for_each(cached);
        if values.iter().all(Option::is_some) {
            return Ok(values);
        }
        let mut places: HashMap<K, usize> = HashMap::new();
        let mut missing = Vec::new();
        for (key, _) in keys.iter().zip(&values).filter(|(_, value)| value.is_none()) {
            places.entry(*key).or_insert_with(|| {
                missing.push(*key);
                missing.len() - 1
            });
        }
        let before: Vec<_> = missing.iter().map(|key| self.version(*key)).collect();
        let loaded = load(&missing)?;
        for ((key, value), before) in missing.iter().zip(&loaded).zip(before) {
            if let Some(value) = value {
                self.keep(*key, value, before);
            }
        }
        for (key, value) in keys.iter().zip(&mut values).filter(|(_, value)| value.is_none()) {
            *value = places.get(key).and_then(|place| loaded.get(*place)?.clone());
        }
        Ok(values)
    }

    /// The cache in figures.
    pub fn usage(&self) -> CacheUsage {
        self.values.usage()
    }

    /// The cached value.
    pub fn cached(&self, key: K) -> Option<V> {
        self.values.get(&key)
    }

    /// A number for [`ReadThrough::keep`], which differs after each change; `None` while one is under way. Must come before
    /// the value is loaded.
    pub fn version(&self, key: K) -> Option<u64> {
        self.changes.of(key.into()).lock().version()
    }

    /// Announces a change of a value that need not make a cached one stale; `stale` tells.
    pub fn change_some(&self, key: K, stale: impl FnOnce(&V) -> bool) -> CacheChange {
        self.changes.of(key.into()).lock().under_way += 1;
        // Nothing is kept from here on, so the value stays the same between the two.
        if self.values.entries.peek(&key).is_some_and(|value| stale(&value)) {
            self.values.remove(&key);
        }
        CacheChange { changes: Arc::clone(&self.changes), key: key.into() }
    }

    /// Announces a change of a value; it ends when the result is dropped.
    pub fn change(&self, key: K) -> CacheChange {
        self.change_some(key, |_| true)
    }

    /// Ends a change, and caches the written value. The caller ensures that a value has one change at a time.
    pub fn written(&self, key: K, value: V, _changing: CacheChange) {
        self.values.insert(key, value);
    }
}

/// A change of a value under way.
#[derive(Debug)]
#[must_use = "the change ends when this is dropped"]
pub struct CacheChange {
    changes: Arc<ChangesByKey>,
    key: u64,
}

impl Drop for CacheChange {
    fn drop(&mut self) {
        let mut changes = self.changes.of(self.key).lock();
        changes.under_way -= 1;
        changes.ended += 1;
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
        assert_eq!((usage.hits, usage.misses, usage.evictions), (0, 1, 100_000 - usage.entries));
        cache.clear();
        assert_eq!(cache.usage().bytes.used, 0);
    }
}
