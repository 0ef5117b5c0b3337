//! A filter in memory, of bounded size, over the keys of a sparse table.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use fastbloom::AtomicBloomFilter;

use model::Fill;

/// A filter that tells for sure that a key is *not* in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterUsage {
    /// The kind of its keys.
    pub name: &'static str,
    /// Keys added, and the number it is sized for: above that it lets more absent keys pass, and answers stay right.
    pub keys: Fill,
    /// Its memory.
    pub bytes: u64,
    /// Whether it has all keys of the table. Until then it lets keys pass that a start has not come to yet.
    pub is_loaded: bool,
}

/// Tells for sure that a key is *not* in a table; else the key may be in it.
///
/// With 8 bits a key and 4 hashes, one absent key in forty passes. A filter grows by parts, each as large as all parts
/// before it, up to [`MAX_KEYS`]. Beyond that, more reads go to the table; no answer is ever wrong. A key is added before
/// its row is acknowledged, and never removed.
///
/// Until all rows of the table are loaded, each key may be in it.
pub(crate) struct KeyFilter {
    parts: [OnceLock<Part>; PARTS],
    /// The number of keys that the first part is for.
    first: u64,
    /// Whether all keys of the table are added.
    is_loaded: AtomicBool,
}

struct Part {
    filter: AtomicBloomFilter,
    /// The number of keys that it is for.
    room: u64,
    /// The number of keys added. A key added again seldom counts.
    keys: AtomicU64,
}

/// The least size of the first part, and the greatest size of all parts, in keys: 1 MiB and 512 MiB of memory.
const MIN_KEYS: u64 = 1 << 20;
const MAX_KEYS: u64 = 512 << 20;
const BITS_PER_KEY: u64 = 8;
/// The first part, and as many doublings as lead from the least size to the greatest.
const PARTS: usize = 1 + (MAX_KEYS / MIN_KEYS).ilog2() as usize;

impl Default for KeyFilter {
    /// An empty filter over an empty table. It takes no memory until a key is added.
    fn default() -> Self {
        Self::sized(0, true)
    }
}

impl KeyFilter {
    fn sized(keys: u64, is_loaded: bool) -> Self {
        let first = (keys + keys / 4).clamp(MIN_KEYS, MAX_KEYS);
        Self { parts: Default::default(), first, is_loaded: AtomicBool::new(is_loaded) }
    }

    /// A filter over a table with about so many keys, none of which is loaded yet.
    pub(crate) fn to_load(keys: u64) -> Self {
        Self::sized(keys, false)
    }

    /// Adds a key.
    pub(crate) fn add(&self, key: u64) {
        let mut part = self.part(0, self.first);
        let hash = part.filter.source_hash(&key);
        let (mut place, mut before) = (0, part.room);
        loop {
            if part.filter.contains_hash(hash) {
                return;
            }
            let is_full = part.keys.load(Ordering::Relaxed) >= part.room;
            let room = before.min(MAX_KEYS - before);
            if !is_full || room == 0 || place + 1 == PARTS {
                break;
            }
            place += 1;
            part = self.part(place, room);
            before += part.room;
        }
        if !part.filter.insert_hash(hash) {
            part.keys.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A part, which is made if there is none.
    fn part(&self, place: usize, room: u64) -> &Part {
        self.parts[place].get_or_init(|| Part {
            filter: AtomicBloomFilter::with_num_bits((BITS_PER_KEY * room) as usize).seed(&0).hashes(4),
            room,
            keys: AtomicU64::new(0),
        })
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().map_while(OnceLock::get)
    }

    /// The filter in figures. `name` is the kind of its keys.
    pub(crate) fn usage(&self, name: &'static str) -> FilterUsage {
        let room: u64 = self.parts().map(|part| part.room).sum();
        FilterUsage {
            name,
            keys: Fill {
                used: self.parts().map(|part| part.keys.load(Ordering::Relaxed)).sum(),
                limit: room.max(self.first),
            },
            bytes: self.parts().map(|part| part.filter.num_bits() as u64 / 8).sum(),
            is_loaded: self.is_loaded(),
        }
    }

    /// All keys of the table are added.
    pub(crate) fn loaded(&self) {
        self.is_loaded.store(true, Ordering::Release);
    }

    /// Whether all keys of the table are added.
    pub(crate) fn is_loaded(&self) -> bool {
        self.is_loaded.load(Ordering::Acquire)
    }

    /// Whether no key was ever in the table.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_loaded() && self.parts[0].get().is_none()
    }

    pub(crate) fn may_have(&self, key: u64) -> bool {
        !self.is_loaded() || self.had(key)
    }

    /// Whether a key may have been added.
    pub(crate) fn had(&self, key: u64) -> bool {
        let Some(first) = self.parts[0].get() else { return false };
        let hash = first.filter.source_hash(&key);
        self.parts().any(|part| part.filter.contains_hash(hash))
    }
}
