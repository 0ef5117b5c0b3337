//! The memory of all caches: one bound, and the share of each cache.

/// Memory for the caches of data that is on disk, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMemory(u64);

/// The share of a cache, in [`PARTS`]ths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(u64);

const PARTS: u64 = 128;

/// Blocks of table files.
pub const BLOCKS: Share = Share(64);
/// Lists of followees.
pub const FOLLOWEES: Share = Share(8);
/// Rows of inboxes.
pub const INBOXES: Share = Share(8);
/// Pages of home timelines.
pub const PAGES: Share = Share(8);
/// Items.
pub const CONTENTS: Share = Share(8);
/// Parts of outboxes.
pub const OUTBOX_PARTS: Share = Share(4);
/// Numbers of names.
pub const NUMBERS: Share = Share(4);
/// Names of numbers.
pub const NAMES: Share = Share(4);
/// Activities of users.
pub const ACTIVITIES: Share = Share(2);
/// Cards of users.
pub const CARDS: Share = Share(2);
/// Counts of items.
pub const ITEM_COUNTS: Share = Share(2);
/// The newest reactions of users.
pub const REACTIONS: Share = Share(2);
/// Numbers of topics.
pub const TOPIC_NAMES: Share = Share(1);
/// The ends of lists of topics.
pub const TOPIC_ENDS: Share = Share(1);

impl CacheMemory {
    /// So many bytes for all.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The bytes of one cache.
    pub const fn of(self, cache: Share) -> u64 {
        self.0 / PARTS * cache.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shares_together_fit() {
        let large = [BLOCKS, FOLLOWEES, INBOXES, PAGES, CONTENTS, OUTBOX_PARTS, NUMBERS, NAMES];
        let small = [ACTIVITIES, CARDS, ITEM_COUNTS, REACTIONS, TOPIC_NAMES, TOPIC_ENDS];
        let memory = CacheMemory::new(1 << 30);
        let all: u64 = large.iter().chain(&small).map(|cache| memory.of(*cache)).sum();
        assert!(all <= 1 << 30, "{all} bytes");
        assert_eq!(memory.of(BLOCKS), 512 << 20);
    }
}
