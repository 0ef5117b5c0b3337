//! Pending items.

use std::ops::Bound::{Excluded, Unbounded};

use super::Backlog;
use super::held::{Held, Keys};
use model::{ContentId, Cursor, Entry, Order, Scan, UserId};

/// The pending entries by source, each held by its jobs: that of an item that was deleted and restored during its first fan-out
/// has two.
pub(super) type Pending = Held<Cursor, Entry>;

type Places = Keys<Cursor, Entry>;

impl Backlog {
    /// Whether an item is pending on the path of an entry.
    pub fn is_pending(&self, entry: Entry) -> bool {
        let map = self.pending.by_user();
        map.get(&entry.source).is_some_and(|places| places.contains_key(&entry.cursor))
    }

    /// No entry of a source or an author is pending any more; jobs of these entries have nothing to do.
    pub fn forget_pending(&self, user: UserId) {
        self.pending.retain(|source, entry| source != user && entry.author != user);
    }

    /// The first entries of `scan` of `sources` (ascending) that are pending. `None` if more than `most` are found, for
    /// callers with little time. Costs the smaller of the number of sources asked for and the number of sources with
    /// something pending.
    pub fn pending(&self, sources: &[UserId], scan: Scan<ContentId>, most: usize) -> Option<Vec<Entry>> {
        let Scan { span, order, limit } = scan;
        let map = self.pending.by_user();
        let mut found = Vec::new();
        // A `BTreeMap` panics on an empty range.
        if map.is_empty() || span.is_empty() {
            return Some(found);
        }
        // One more shows that there are too many.
        let limit = limit.min(most.saturating_add(1));
        let range = (span.after.map_or(Unbounded, Excluded), span.before.map_or(Unbounded, Excluded));
        let mut take = |places: &Places| {
            let entries = places.range(range).map(|(_, (entry, _))| *entry);
            match order {
                Order::NewestFirst => found.extend(entries.rev().take(limit)),
                Order::OldestFirst => found.extend(entries.take(limit)),
            }
            found.len() <= most
        };
        let fits = if map.len() < sources.len() {
            let mut asked = map.iter().filter(|(source, _)| sources.binary_search(source).is_ok());
            asked.all(|(_, places)| take(places))
        } else {
            sources.iter().filter_map(|source| map.get(source)).all(take)
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
