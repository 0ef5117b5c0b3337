//! Read-through caches that are never older than the last acknowledged change.

use std::collections::HashMap;
use std::hash::Hash;

use crate::cache::Cache;
use crate::error::Result;
use crate::model::{CacheUsage, ContentId, UserId};
use crate::sync::{Mutex, MutexGuard};

const STRIPES: usize = 1024;

/// What a value is kept under.
pub(super) trait Key: Copy + Eq + Hash {
    /// A number by which keys are spread over the locks.
    fn number(self) -> u64;
}

impl Key for UserId {
    fn number(self) -> u64 {
        self.get()
    }
}

impl Key for ContentId {
    fn number(self) -> u64 {
        self.get()
    }
}

/// A read-through cache that never serves a value older than the last acknowledged change.
///
/// A writer announces a change before it writes and drops the value after; a loader keeps what it
/// read only if no change began or ended since before it read, and none is under way. Both are
/// decided under a stripe's lock, which nobody holds while reading or writing the store.
///
/// That something is *not* there is not kept, so what makes a key appear needs no announcement.
#[derive(Debug)]
pub(super) struct Fresh<K, V> {
    values: Cache<K, V>,
    stripes: Box<[Mutex<Stripe>]>,
}

#[derive(Debug, Default)]
struct Stripe {
    writers: usize,
    changes: u64,
}

impl<K: Key, V: Clone> Fresh<K, V> {
    /// An empty cache for `limit` bytes; `usual` and `bytes` as in [`Cache::new`].
    pub(super) fn new(limit: u64, usual: u64, bytes: fn(&V) -> u64) -> Self {
        Self { values: Cache::new(limit, usual, bytes), stripes: (0..STRIPES).map(|_| Mutex::default()).collect() }
    }

    fn stripe(&self, key: K) -> MutexGuard<'_, Stripe> {
        let index = (key.number().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % STRIPES;
        self.stripes[index].lock()
    }

    /// Keeps a value that was loaded when so many changes had been announced, if it is still fresh.
    fn keep(&self, key: K, value: &V, before: u64) {
        let stripe = self.stripe(key);
        if stripe.writers == 0 && stripe.changes == before {
            self.values.insert(key, value.clone());
        }
    }

    /// The cached value, or the loaded one.
    pub(super) fn get(&self, key: K, load: impl FnOnce() -> Result<V>) -> Result<V> {
        if let Some(value) = self.values.get(&key) {
            return Ok(value);
        }
        let before = self.stripe(key).changes;
        let value = load()?;
        self.keep(key, &value, before);
        Ok(value)
    }

    /// The values of `keys`, in their order; `None` for what is not there. Those that are not cached are
    /// loaded in one call, each once; `cached` sees the others.
    pub(super) fn get_many(
        &self,
        keys: &[K],
        cached: impl FnMut(&V),
        load: impl FnOnce(&[K]) -> Result<Vec<Option<V>>>,
    ) -> Result<Vec<Option<V>>> {
        let mut values: Vec<Option<V>> = keys.iter().map(|key| self.values.get(key)).collect();
        values.iter().flatten().for_each(cached);
        let mut places: HashMap<K, usize> = HashMap::new();
        let mut missing = Vec::new();
        for (key, _) in keys.iter().zip(&values).filter(|(_, value)| value.is_none()) {
            places.entry(*key).or_insert_with(|| {
                missing.push(*key);
                missing.len() - 1
            });
        }
        if missing.is_empty() {
            return Ok(values);
        }
        let before: Vec<u64> = missing.iter().map(|key| self.stripe(*key).changes).collect();
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
    pub(super) fn usage(&self) -> CacheUsage {
        self.values.usage()
    }

    /// Announces a change of a value; it ends when the result is dropped.
    pub(super) fn change(&self, key: K) -> Changing<'_, K, V> {
        let mut stripe = self.stripe(key);
        stripe.writers += 1;
        stripe.changes += 1;
        Changing { cache: self, key }
    }
}

/// A change of a value under way.
#[must_use = "the change ends when this is dropped"]
pub(super) struct Changing<'a, K: Key, V: Clone> {
    cache: &'a Fresh<K, V>,
    key: K,
}

impl<K: Key, V: Clone> Drop for Changing<'_, K, V> {
    fn drop(&mut self) {
        let mut stripe = self.cache.stripe(self.key);
        stripe.writers -= 1;
        // Also at the end: a loader may have begun in the middle, and read what was there before.
        stripe.changes += 1;
        self.cache.values.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn cache() -> Fresh<UserId, u64> {
        Fresh::new(1 << 20, 8, |_| 8)
    }

    fn read(cache: &Fresh<UserId, u64>, stored: u64) -> u64 {
        cache.get(user(1), || Ok(stored)).expect("loads")
    }

    #[test]
    fn a_value_is_kept_until_it_changes() {
        let cache = cache();
        assert_eq!(read(&cache, 2), 2);
        assert_eq!(read(&cache, 3), 2, "from the cache");
        let change = cache.change(user(1));
        assert_eq!(read(&cache, 3), 2, "not yet acknowledged");
        drop(change);
        assert_eq!(read(&cache, 3), 3);
    }

    #[test]
    fn what_was_read_before_a_change_is_not_kept() {
        let cache = cache();
        let value = cache.get(user(1), || {
            drop(cache.change(user(1)));
            Ok(2)
        });
        assert_eq!(value.expect("loads"), 2);
        assert_eq!(read(&cache, 3), 3);
        assert_eq!(cache.get(user(9), || Ok(0)).expect("loads"), 0);
        let _change = cache.change(user(1));
        cache.values.clear();
        assert_eq!(read(&cache, 4), 4);
        assert_eq!(read(&cache, 5), 5, "nothing is kept while a change is under way");
    }

    #[test]
    fn what_was_read_during_a_change_is_not_kept() {
        let cache = cache();
        let change = cache.change(user(1));
        let value = cache.get(user(1), || {
            drop(change);
            Ok(2)
        });
        assert_eq!(value.expect("loads"), 2);
        assert_eq!(read(&cache, 3), 3);
    }

    #[test]
    fn of_several_only_those_that_are_not_kept_are_loaded_each_once() {
        let cache = cache();
        let keys = [1, 2, 3, 2, 1].map(user);
        let values = cache.get_many(
            &keys[..2],
            |_| {},
            |missing| {
                assert_eq!(missing, &keys[..2]);
                Ok(vec![Some(10), None])
            },
        );
        assert_eq!(values.expect("loads"), [Some(10), None]);
        let values = cache.get_many(
            &keys,
            |_| {},
            |missing| {
                assert_eq!(missing, &[user(2), user(3)], "1 is kept; that 2 is not there is not");
                Ok(vec![Some(20), Some(30)])
            },
        );
        assert_eq!(values.expect("loads"), [Some(10), Some(20), Some(30), Some(20), Some(10)]);
        let values = cache.get_many(&keys, |_| {}, |_| panic!("all are kept"));
        assert_eq!(values.expect("kept").len(), 5);
        assert_eq!(cache.usage().entries, 3);
    }

    #[test]
    fn of_several_those_that_change_meanwhile_are_not_kept() {
        let cache = cache();
        let keys = [1, 2].map(user);
        let values = cache.get_many(
            &keys,
            |_| {},
            |_| {
                drop(cache.change(user(2)));
                Ok(vec![Some(10), Some(20)])
            },
        );
        assert_eq!(values.expect("loads"), [Some(10), Some(20)]);
        let values = cache.get_many(
            &keys,
            |_| {},
            |missing| {
                assert_eq!(missing, &[user(2)]);
                Ok(vec![Some(21)])
            },
        );
        assert_eq!(values.expect("loads"), [Some(10), Some(21)]);
    }
}
