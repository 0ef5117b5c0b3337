//! Pending items.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use foldhash::HashMap;

use super::Backlog;
use model::sync::RwLock;
use model::sync::atomic::{AtomicU64, Ordering};
use model::{ContentId, Cursor, Entry, Order, Scan, UserId};

/// The cursors of pending items by author, each with the number of its jobs: an item that was deleted and restored
/// during its first fan-out has two.
///
/// Bounded by the backlog's capacity: each cursor belongs to a job.
#[derive(Debug, Default)]
pub(super) struct Pending {
    by_author: RwLock<HashMap<UserId, BTreeMap<Cursor, usize>>>,
    /// How many cursors.
    len: AtomicU64,
}

impl Pending {
    pub(super) fn add(&self, entry: Entry) {
        let mut map = self.by_author.write();
        let jobs = map.entry(entry.author).or_default().entry(entry.cursor).or_default();
        *jobs += 1;
        if *jobs == 1 {
            self.len.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn remove(&self, entry: Entry) {
        let mut map = self.by_author.write();
        if let Some(places) = map.get_mut(&entry.author) {
            if let Some(jobs) = places.get_mut(&entry.cursor) {
                *jobs -= 1;
                if *jobs == 0 {
                    places.remove(&entry.cursor);
                    self.len.fetch_sub(1, Ordering::Relaxed);
                }
            }
            if places.is_empty() {
                map.remove(&entry.author);
            }
        }
    }

    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }
}

impl Backlog {
    /// Whether an item is pending.
    pub fn is_pending(&self, entry: Entry) -> bool {
        let map = self.pending.by_author.read();
        map.get(&entry.author).is_some_and(|places| places.contains_key(&entry.cursor))
    }

    /// The first entries of `scan` of `authors` (ascending) that are pending. `None` if more than `most` are found, for
    /// callers with little time. Costs the smaller of the number of authors asked for and the number of authors with
    /// something pending.
    pub fn pending(&self, authors: &[UserId], scan: Scan<ContentId>, most: usize) -> Option<Vec<Entry>> {
        let Scan { span, order, limit } = scan;
        let map = self.pending.by_author.read();
        let mut found = Vec::new();
        // A `BTreeMap` panics on an empty range.
        if map.is_empty() || span.is_empty() {
            return Some(found);
        }
        // One more shows that there are too many.
        let limit = limit.min(most.saturating_add(1));
        let range = (span.after.map_or(Unbounded, Excluded), span.before.map_or(Unbounded, Excluded));
        let mut take = |author: &UserId, places: &BTreeMap<Cursor, usize>| {
            let entries = places.range(range).map(|(cursor, _)| Entry { cursor: *cursor, author: *author });
            match order {
                Order::NewestFirst => found.extend(entries.rev().take(limit)),
                Order::OldestFirst => found.extend(entries.take(limit)),
            }
            found.len() <= most
        };
        let fits = if map.len() < authors.len() {
            let mut asked = map.iter().filter(|(author, _)| authors.binary_search(author).is_ok());
            asked.all(|(author, places)| take(author, places))
        } else {
            let mut there = authors.iter().filter_map(|author| Some((author, map.get(author)?)));
            there.all(|(author, places)| take(author, places))
        };
        drop(map);
        if !fits {
            return None;
        }
        match order {
            Order::NewestFirst => found.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.cursor)),
            Order::OldestFirst => found.sort_unstable_by_key(|entry| entry.cursor),
        }
        found.truncate(scan.limit);
        Some(found)
    }
}
