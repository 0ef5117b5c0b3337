//! The column families: what each is for and how it is tuned for that.

use rocksdb::{BlockBasedOptions, Cache, ColumnFamilyDescriptor, DBCompressionType, Options, SliceTransform};

use super::filter::{DeletedFilterFactory, FloorFilterFactory};
use super::keys::ID;
use super::values;

/// A table, by the name of its column family.
pub(super) type Table = &'static str;

pub(super) const CONTENT: Table = "content";
pub(super) const DELETED: Table = "deleted";
pub(super) const OUTBOX: Table = "outbox";
pub(super) const OUTBOX_ARCHIVE: Table = "outbox_archive";
pub(super) const INBOX: Table = "inbox";
pub(super) const FOLLOWING: Table = "following";
pub(super) const FOLLOWING_BY_TIME: Table = "following_by_time";
pub(super) const FOLLOWERS: Table = "followers";
pub(super) const FOLLOWERS_BY_TIME: Table = "followers_by_time";
pub(super) const FRIENDS_BY_TIME: Table = "friends_by_time";
pub(super) const COUNTS: Table = "counts";
pub(super) const COMMENTS: Table = "comments";
pub(super) const USER_COMMENTS: Table = "user_comments";
pub(super) const ITEM_COUNTS: Table = "item_counts";
pub(super) const REACTIONS: Table = "reactions";
pub(super) const REACTIONS_BY_TIME: Table = "reactions_by_time";
pub(super) const REACTIONS_BY_USER: Table = "reactions_by_user";
pub(super) const MUTES: Table = "mutes";
pub(super) const MUTES_BY_TIME: Table = "mutes_by_time";
pub(super) const HIDDEN: Table = "hidden";
pub(super) const HIDDEN_BY_TIME: Table = "hidden_by_time";
pub(super) const HIDDEN_TO: Table = "hidden_to";
pub(super) const PROFILES: Table = "profiles";
pub(super) const TOPIC_IDS: Table = "topic_ids";
pub(super) const TOPIC_CONTENT: Table = "topic_content";
pub(super) const TOPIC_ARCHIVE: Table = "topic_archive";
pub(super) const ACTIVITY: Table = "activity";
pub(super) const UNPUSHED: Table = "unpushed";
pub(super) const MARKERS: Table = "markers";
pub(super) const JOBS: Table = "jobs";
pub(super) const EVENTS: Table = "events";

/// All tables but the engine's own `default`, which stays empty.
pub(super) const ALL: &[Table] = &[
    CONTENT,
    DELETED,
    OUTBOX,
    OUTBOX_ARCHIVE,
    INBOX,
    FOLLOWING,
    FOLLOWING_BY_TIME,
    FOLLOWERS,
    FOLLOWERS_BY_TIME,
    FRIENDS_BY_TIME,
    COMMENTS,
    USER_COMMENTS,
    COUNTS,
    ITEM_COUNTS,
    REACTIONS,
    REACTIONS_BY_TIME,
    REACTIONS_BY_USER,
    MUTES,
    MUTES_BY_TIME,
    HIDDEN,
    HIDDEN_BY_TIME,
    HIDDEN_TO,
    PROFILES,
    TOPIC_IDS,
    TOPIC_CONTENT,
    TOPIC_ARCHIVE,
    ACTIVITY,
    UNPUSHED,
    MARKERS,
    JOBS,
    EVENTS,
];

const MIB: usize = 1 << 20;

/// How a table is read and written.
enum Access {
    /// Single rows by their whole key.
    Point,
    /// Scans inside a partition of eight bytes.
    Scan,
    /// Both.
    PointAndScan,
    /// Written once, read at start, deleted soon.
    Queue,
    /// Written at one end, read in order, deleted at the other end, much at once.
    Log,
}

fn access(table: Table) -> Access {
    match table {
        REACTIONS_BY_TIME | REACTIONS_BY_USER | COMMENTS | USER_COMMENTS => Access::Scan,
        OUTBOX | OUTBOX_ARCHIVE | INBOX | TOPIC_CONTENT | TOPIC_ARCHIVE => Access::Scan,
        FOLLOWING_BY_TIME | FOLLOWERS_BY_TIME | FRIENDS_BY_TIME | MUTES_BY_TIME | HIDDEN_BY_TIME => Access::Scan,
        FOLLOWING | FOLLOWERS | MUTES | HIDDEN | HIDDEN_TO => Access::PointAndScan,
        JOBS => Access::Queue,
        EVENTS => Access::Log,
        _ => Access::Point,
    }
}

/// The part of a write buffer that is set aside for a filter over its prefixes, from its first row on: eight bits for each
/// of as many rows as fit, about 100 bytes each.
const PREFIX_BLOOM: f64 = 0.01;

/// The compaction filters.
pub(super) struct Filters {
    pub(super) inbox: FloorFilterFactory,
    pub(super) outbox: FloorFilterFactory,
    pub(super) topic: FloorFilterFactory,
    pub(super) content: DeletedFilterFactory,
}

/// The column families with their options. They share one block cache.
pub(super) fn descriptors(cache: &Cache, filters: Filters) -> Vec<ColumnFamilyDescriptor> {
    let Filters { inbox, outbox, topic, content } = filters;
    let (mut inbox, mut outbox, mut topic, mut content) = (Some(inbox), Some(outbox), Some(topic), Some(content));
    // The engine's own table is empty, but the largest write buffer of any table is what the engine wants
    // to be free before it gets over a full device.
    let mut unused = Options::default();
    unused.set_write_buffer_size(MIB);
    let unused = ColumnFamilyDescriptor::new("default", unused);
    ALL.iter()
        .map(|table| {
            let mut options = options(table, cache);
            let filter = match *table {
                INBOX => inbox.take(),
                OUTBOX => outbox.take(),
                TOPIC_CONTENT => topic.take(),
                _ => None,
            };
            if let Some(factory) = filter {
                options.set_compaction_filter_factory(factory);
            }
            if let Some(factory) = content.take_if(|_| *table == CONTENT) {
                options.set_compaction_filter_factory(factory);
            }
            ColumnFamilyDescriptor::new(*table, options)
        })
        .chain([unused])
        .collect()
}

fn options(table: Table, cache: &Cache) -> Options {
    let mut options = Options::default();
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_format_version(5);
    // Index and filters count towards the cache, so that memory stays bounded.
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    options.set_compression_type(DBCompressionType::Lz4);
    // Small write buffers: they fit the processor's cache, and few rows are replayed after a crash.
    options.set_write_buffer_size(8 * MIB);
    // A table with a single row counts as one such piece towards the memory for all of them.
    options.set_arena_block_size(64 << 10);
    match access(table) {
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
            // Compacts where most rows are deletions, so that a start does not wade through them.
            options.add_compact_on_deletion_collector_factory(1024, 512, 0.5);
        }
        Access::Log => {}
    }
    if matches!(access(table), Access::Scan | Access::PointAndScan) && table != INBOX {
        // So that a list does not stay behind what was taken out of it. No walk of an inbox goes below its
        // floor, where most of its deletions are.
        options.add_compact_on_deletion_collector_factory(1024, 512, 0.5);
    }
    match table {
        INBOX => {
            options.set_write_buffer_size(16 * MIB);
            options.set_max_write_buffer_number(4);
        }
        CONTENT => {
            options.set_write_buffer_size(16 * MIB);
            options.set_bottommost_compression_type(DBCompressionType::Zstd);
        }
        OUTBOX_ARCHIVE | TOPIC_ARCHIVE => options.set_compression_type(DBCompressionType::Zstd),
        COUNTS => options.set_merge_operator_associative("add", add),
        ITEM_COUNTS => {
            options.set_merge_operator_associative("add_item_counts", add_item_counts);
            // A read adds up the steps since the last sum; this bounds how many there can be.
            options.set_max_successive_merges(32);
        }
        _ => {}
    }
    options.set_block_based_table_factory(&blocks);
    options
}

/// Adds up the steps of a counter. A step that does not read counts nothing: a merge cannot fail.
fn add(_key: &[u8], present: Option<&[u8]>, steps: &rocksdb::MergeOperands) -> Option<Vec<u8>> {
    let start = present.and_then(values::read_count).unwrap_or_default();
    let sum = steps.iter().filter_map(values::read_count).fold(start, i64::wrapping_add);
    Some(values::count(sum).to_vec())
}

/// The same for the counters of an item.
fn add_item_counts(_key: &[u8], present: Option<&[u8]>, steps: &rocksdb::MergeOperands) -> Option<Vec<u8>> {
    let mut sum = present.and_then(values::read_item_counts).unwrap_or_default();
    for step in steps.iter().filter_map(values::read_item_counts) {
        for (sum, step) in sum.iter_mut().zip(step) {
            *sum = sum.wrapping_add(step);
        }
    }
    Some(values::item_counts(sum).to_vec())
}
