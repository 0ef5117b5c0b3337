//! The tables, one column family each, with their keys and options.

use std::fmt;

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, CompactionDecision, DBCompressionType, Options, SliceTransform,
};

use super::filter::{DeletedFilterFactory, FloorFilterFactory};
use super::inbox::{self, InboxRoom};
use super::keys::ID;
use super::values;

/// One of the tables below.
pub(crate) type Table = &'static Spec;

/// The properties of a table.
pub(crate) struct Spec {
    /// The name of its column family, as in `docs/schema.md`.
    pub(crate) name: &'static str,
    access: Access,
    /// The kind of its keys.
    pub(crate) keys: Keys,
    /// Whether a value can be read. For tables of which an audit checks nothing else.
    pub(crate) record: Option<fn(&[u8]) -> bool>,
    /// Options in addition to those of its access.
    tune: fn(&mut Options),
}

/// The pattern of reads and writes of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Single rows by their whole key.
    Point,
    /// Scans inside a partition of eight bytes.
    Scan,
    /// Both.
    PointAndScan,
    /// Written once, read at start, deleted soon.
    Queue,
    /// Written at one end, read in order, deleted at the other end, many rows at once.
    Log,
}

/// The kind and owner of a table's keys, by which an audit names a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// An id.
    One(&'static str),
    /// A user and another user.
    Pair,
    /// A user and a counter.
    Counter,
    /// A text that has a number, and its kind.
    Text(&'static str),
    /// An item and a user.
    Reaction,
    /// A partition and a place in it.
    Row(&'static str),
}

impl Spec {
    const fn new(name: &'static str, access: Access, keys: Keys) -> Self {
        Self { name, access, keys, record: None, tune: |_| () }
    }

    /// A table of single rows.
    const fn point(name: &'static str, keys: Keys) -> Self {
        Self::new(name, Access::Point, keys)
    }

    /// A table of one row a user, which an audit compares with no other table.
    const fn record(name: &'static str, reads: fn(&[u8]) -> bool) -> Self {
        Self { record: Some(reads), ..Self::point(name, Keys::One("user")) }
    }

    /// A table of ordered rows in partitions.
    const fn scan(name: &'static str, keys: Keys) -> Self {
        Self::new(name, Access::Scan, keys)
    }

    /// A table of pairs of users. The pairs of one user are also read in order.
    const fn pairs(name: &'static str) -> Self {
        Self::new(name, Access::PointAndScan, Keys::Pair)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

// Names are unique.
impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

macro_rules! tables {
    ($($table:ident = $spec:expr;)+) => {
        $(pub(crate) const $table: Table = &$spec;)+

        /// All tables except the engine's own `default`, which stays empty.
        pub(crate) const ALL: &[Table] = &[$($table),+];
    };
}

tables! {
    CONTENT = Spec { tune: content, ..Spec::point("content", Keys::One("content")) };
    DELETED = Spec::point("deleted", Keys::One("content"));
    OUTBOX = Spec::scan("outbox", Keys::Row("user"));
    OUTBOX_ARCHIVE = Spec { tune: archive, ..Spec::scan("outbox_archive", Keys::Row("user")) };
    INBOXES = Spec { tune: inboxes, ..Spec::record("inboxes", inbox::is_readable) };
    FOLLOWING = Spec::pairs("following");
    FOLLOWING_BY_TIME = Spec::scan("following_by_time", Keys::Row("user"));
    FOLLOWERS = Spec::pairs("followers");
    FOLLOWERS_BY_TIME = Spec::scan("followers_by_time", Keys::Row("user"));
    FRIENDS_BY_TIME = Spec::scan("friends_by_time", Keys::Row("user"));
    COMMENTS = Spec::scan("comments", Keys::Row("content"));
    USER_COMMENTS = Spec::scan("user_comments", Keys::Row("user"));
    COUNTS = Spec { tune: counts, ..Spec::point("counts", Keys::Counter) };
    ITEM_COUNTS = Spec { tune: item_counts, ..Spec::point("item_counts", Keys::One("content")) };
    LIKES = Spec::point("likes", Keys::Reaction);
    LIKES_BY_TIME = Spec::scan("likes_by_time", Keys::Row("content"));
    LIKES_BY_USER = Spec::scan("likes_by_user", Keys::Row("user"));
    FAVORITES = Spec::point("favorites", Keys::Reaction);
    FAVORITES_BY_TIME = Spec::scan("favorites_by_time", Keys::Row("content"));
    FAVORITES_BY_USER = Spec::scan("favorites_by_user", Keys::Row("user"));
    MUTES = Spec::pairs("mutes");
    MUTES_BY_TIME = Spec::scan("mutes_by_time", Keys::Row("user"));
    HIDDEN = Spec::pairs("hidden");
    HIDDEN_BY_TIME = Spec::scan("hidden_by_time", Keys::Row("user"));
    HIDDEN_TO = Spec::pairs("hidden_to");
    PROFILES = Spec::record("profiles", |row| values::read_profile(row).is_ok());
    TOPIC_IDS = Spec::point("topic_ids", Keys::Text("topic"));
    TOPIC_CONTENT = Spec::scan("topic_content", Keys::Row("topic"));
    TOPIC_ARCHIVE = Spec { tune: archive, ..Spec::scan("topic_archive", Keys::Row("topic")) };
    NAMES = Spec { tune: names, ..Spec::point("names", Keys::Text("name")) };
    NAMES_BY_NUMBER = Spec::point("names_by_number", Keys::One("number"));
    ACTIVITY = Spec::point("activity", Keys::One("user"));
    UNPUSHED = Spec::point("unpushed", Keys::One("user"));
    MARKERS = Spec::record("markers", |row| values::read_marker(row).is_ok());
    JOBS = Spec::new("jobs", Access::Queue, Keys::One("job"));
    EVENTS = Spec::new("events", Access::Log, Keys::One("event"));
    REPLICA = Spec::point("replica", Keys::Text("mark"));
}

const MIB: usize = 1 << 20;

fn content(options: &mut Options) {
    options.set_write_buffer_size(16 * MIB);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
}

/// Compaction by levels, the engine's default: with 30 million entries on two cores it took 0.69 to 0.81 million deliveries
/// a second, and universal compaction 0.53. Four background jobs instead of two changed nothing (0.71).
fn inboxes(options: &mut Options) {
    options.set_write_buffer_size(16 * MIB);
    options.set_max_write_buffer_number(4);
    // Rows are packed: LZ4 leaves those of unlike inboxes at the same 5.7 bytes an entry. Only equal inboxes would shrink.
    options.set_compression_type(DBCompressionType::None);
    // A compaction rewrites all inboxes, so it waits for more files than the engine's 4. With 25 million entries it took
    // 1.79 s for 8 new files; with LZ4, 1.45 s for 4.
    options.set_level_zero_file_num_compaction_trigger(8);
    // A read merges the changes of the write buffer into the row; this bounds their number in an inbox with many.
    options.set_max_successive_merges(32);
}

fn archive(options: &mut Options) {
    options.set_compression_type(DBCompressionType::Zstd);
}

fn counts(options: &mut Options) {
    options.set_merge_operator_associative("add", add);
    options.set_compaction_filter("tideline.zero", drop_zero);
}

/// Most look-ups of names that reach the table are for new names.
fn names(options: &mut Options) {
    options.set_memtable_prefix_bloom_ratio(PREFIX_BLOOM);
    options.set_memtable_whole_key_filtering(true);
}

fn item_counts(options: &mut Options) {
    options.set_merge_operator_associative("add_item_counts", add_item_counts);
    options.set_compaction_filter("tideline.zero", drop_zero);
    // A read adds up the steps since the last sum; this bounds their number.
    options.set_max_successive_merges(32);
}

/// The part of a write buffer that a filter over its prefixes takes from the first row on: eight bits for each row that
/// fits, at about 100 bytes a row.
const PREFIX_BLOOM: f64 = 0.01;

/// The compaction filters.
pub(crate) struct Filters {
    pub(crate) outbox: FloorFilterFactory,
    pub(crate) topic: FloorFilterFactory,
    pub(crate) content: DeletedFilterFactory,
}

/// The column families with their options. They share one block cache.
pub(crate) fn descriptors(
    cache: &Cache,
    filters: Filters,
    inbox_room: InboxRoom,
    compacts: bool,
) -> Vec<ColumnFamilyDescriptor> {
    let Filters { outbox, topic, content } = filters;
    let (mut outbox, mut topic, mut content) = (Some(outbox), Some(topic), Some(content));
    // The engine's own table is empty. But to recover from a full device, the engine wants as much room as the largest
    // write buffer of any table.
    let mut unused = Options::default();
    unused.set_write_buffer_size(MIB);
    let unused = ColumnFamilyDescriptor::new("default", unused);
    ALL.iter()
        .map(|table| {
            let mut options = options(table, cache);
            options.set_disable_auto_compactions(!compacts);
            for (of, filter) in [(OUTBOX, &mut outbox), (TOPIC_CONTENT, &mut topic)] {
                if let Some(factory) = filter.take_if(|_| *table == of) {
                    options.set_compaction_filter_factory(factory);
                }
            }
            if let Some(factory) = content.take_if(|_| *table == CONTENT) {
                options.set_compaction_filter_factory(factory);
            }
            if *table == INBOXES {
                let (full, partial) = inbox::merges(inbox_room);
                options.set_merge_operator("tideline.inbox", full, partial);
            }
            ColumnFamilyDescriptor::new(table.name, options)
        })
        .chain([unused])
        .collect()
}

fn options(table: Table, cache: &Cache) -> Options {
    let mut options = Options::default();
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_format_version(5);
    // Index and filters are part of the cache, so that memory stays bounded.
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    options.set_compression_type(DBCompressionType::Lz4);
    // Small write buffers: they fit the processor's cache, and few rows are replayed after a crash.
    options.set_write_buffer_size(8 * MIB);
    // Even a table with a single row takes one arena block of the memory for all tables.
    options.set_arena_block_size(64 << 10);
    match table.access {
        Access::Point => {
            blocks.set_bloom_filter(10.0, false);
        }
        Access::Scan => {
            blocks.set_bloom_filter(10.0, false);
            blocks.set_whole_key_filtering(false);
            options.set_prefix_extractor(SliceTransform::create_fixed_prefix(ID));
            options.set_memtable_prefix_bloom_ratio(PREFIX_BLOOM);
        }
        Access::PointAndScan => {
            blocks.set_bloom_filter(10.0, false);
            options.set_prefix_extractor(SliceTransform::create_fixed_prefix(ID));
            options.set_memtable_prefix_bloom_ratio(PREFIX_BLOOM);
        }
        Access::Queue => {
            // Compacts files of mostly deletions, so that a start does not wade through them.
            options.add_compact_on_deletion_collector_factory(1024, 512, 0.5);
        }
        Access::Log => {}
    }
    if matches!(table.access, Access::Scan | Access::PointAndScan) {
        // So that reads do not wade through rows removed from a list.
        options.add_compact_on_deletion_collector_factory(1024, 512, 0.5);
    }
    (table.tune)(&mut options);
    options.set_block_based_table_factory(&blocks);
    options
}

/// Adds up the steps of a counter. A step that cannot be read counts nothing: a merge cannot fail.
fn add(_key: &[u8], present: Option<&[u8]>, steps: &rocksdb::MergeOperands) -> Option<Vec<u8>> {
    let start = present.and_then(values::read_count).unwrap_or_default();
    let sum = steps.iter().filter_map(values::read_count).fold(start, i64::wrapping_add);
    Some(values::count(sum).to_vec())
}

/// Removes a sum, or a row of sums, that is zero, as a missing row is. The engine asks for whole sums only: steps that a
/// compaction adds up leave in the next one.
fn drop_zero(_level: u32, _key: &[u8], sum: &[u8]) -> CompactionDecision {
    if sum.iter().all(|byte| *byte == 0) { CompactionDecision::Remove } else { CompactionDecision::Keep }
}

/// Adds steps to the counters of an item.
fn add_item_counts(_key: &[u8], present: Option<&[u8]>, steps: &rocksdb::MergeOperands) -> Option<Vec<u8>> {
    let mut sum = present.and_then(values::read_item_counts).unwrap_or_default();
    for step in steps.iter().filter_map(values::read_item_counts) {
        for (sum, step) in sum.iter_mut().zip(step) {
            *sum = sum.wrapping_add(step);
        }
    }
    Some(values::item_counts(sum).to_vec())
}
