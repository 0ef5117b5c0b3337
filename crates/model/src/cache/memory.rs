//! The memory of the caches of data on disk: one bound, and the share of each cache.

/// Memory for the caches of data on disk together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMemory(u64);

/// The share of a cache, in `PARTS`ths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(u64);

const PARTS: u64 = 128;

macro_rules! shares {
    ($($(#[$doc:meta])* $name:ident = $parts:literal;)*) => {
        impl Share {
            $($(#[$doc])* pub const $name: Self = Self($parts);)*
        }

        const _: () = assert!($($parts +)* 0 == PARTS);
    };
}

shares! {
    /// Blocks of table files.
    BLOCKS = 64;
    /// Lists of followees.
    FOLLOWEES = 12;
    /// Rows of inboxes.
    INBOXES = 12;
    /// Items.
    CONTENTS = 8;
    /// Pages of home timelines.
    PAGES = 8;
    /// Activities of users.
    ACTIVITIES = 4;
    /// Parts of outboxes.
    OUTBOX_PARTS = 4;
    /// Numbers by name.
    NUMBERS = 4;
    /// Names by number.
    NAMES = 4;
    /// AuthorSummaries of users.
    CARDS = 2;
    /// Counts of items.
    ITEM_COUNTS = 2;
    /// The newest reactions of users.
    REACTIONS = 2;
    /// Numbers by name of topic.
    TOPIC_NAMES = 1;
    /// The ends of lists of topics.
    TOPIC_ENDS = 1;
}

impl CacheMemory {
    /// Memory of this many bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The bytes of one cache.
    pub const fn of(self, cache: Share) -> u64 {
        self.0 / PARTS * cache.0
    }
}
