//! The engine's options of each table, beside those that hold for all of them.

use std::sync::Arc;

use rocksdb::{BlockBasedOptions, Cache, DBCompressionType, MergeOperands, Options, SliceTransform};

use super::compaction_filter::Factory;
use crate::family::{Access, Compression, Family, MergeStep, Schema, Steps};
use crate::id::ID;
use model::cache::memory::{CacheMemory, Share};

const MIB: usize = 1 << 20;

/// So many fresh files of a table of [`Steps::Merged`] begin a compaction. By default the engine slows writes at 16 more than
/// its own number, and stops them at 32 more.
const FRESH_FILES: i32 = 16;

/// The part of a write buffer that a filter over its prefixes takes from the first row on: eight bits for each row that
/// fits, at about 100 bytes a row.
const PREFIX_BLOOM: f64 = 0.01;

/// A read merges the steps of the write buffer into the row; this bounds their number.
const STEPS: usize = 32;

/// The block cache, which all tables share.
pub(crate) fn cache(memory: CacheMemory) -> Cache {
    Cache::new_hyper_clock_cache(memory.of(Share::BLOCKS) as usize, 0)
}

/// The size of the write buffers of a table, bytes, and the most that may be full while changes go on. Small ones fit the
/// processor's cache, and few rows are replayed after a crash. On a full device the write-ahead log must be full before the
/// write buffers are: it refuses changes, and they let them wait.
fn write_buffers(family: &Family) -> (usize, i32) {
    if family.is_large { (16 * MIB, 4) } else { (8 * MIB, 2) }
}

/// Most memory of write buffers, bytes: changes wait while those of a table are full.
pub(crate) fn most_write_buffers(families: &[&'static Family]) -> u64 {
    families.iter().map(|family| write_buffers(family)).map(|(size, most)| size as u64 * most as u64).sum()
}

/// The options of a table.
pub(crate) fn options(family: &Family, cache: &Cache, schema: &Arc<dyn Schema>) -> Options {
    let mut options = Options::default();
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_format_version(5);
    // Index and filters are part of the cache, so that memory stays bounded.
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    let (size, most) = write_buffers(family);
    options.set_write_buffer_size(size);
    options.set_max_write_buffer_number(most);
    // Even a table with a single row takes one arena block of the memory for all tables.
    options.set_arena_block_size(64 << 10);
    let scans = matches!(family.access, Access::Scan | Access::PointAndScan);
    if scans || family.access == Access::Point {
        blocks.set_bloom_filter(10.0, false);
        blocks.set_whole_key_filtering(family.access != Access::Scan);
    }
    if scans {
        options.set_prefix_extractor(SliceTransform::create_fixed_prefix(ID));
        options.set_memtable_prefix_bloom_ratio(PREFIX_BLOOM);
    }
    if scans || family.access == Access::Queue {
        // Compacts files of mostly deletions, so that neither a start nor a read of a list wades through them.
        options.add_compact_on_deletion_collector_factory(1024, 512, 0.5);
    }
    if let Some(add) = family.sum() {
        options.set_merge_operator_associative(family.name, move |_, row, steps| summed(add, row, steps));
    }
    match family.steps {
        Steps::Merged => merged(family, schema, &mut options),
        Steps::ManySums(_) => options.set_max_successive_merges(STEPS),
        Steps::None | Steps::Sums(_) => {}
    }
    if family.misses {
        options.set_memtable_prefix_bloom_ratio(PREFIX_BLOOM);
        options.set_memtable_whole_key_filtering(true);
    }
    match family.compression {
        Compression::None => options.set_compression_type(DBCompressionType::None),
        Compression::Lz4 => options.set_compression_type(DBCompressionType::Lz4),
        Compression::Zstd => options.set_compression_type(DBCompressionType::Zstd),
        Compression::ZstdAtBottom => {
            options.set_compression_type(DBCompressionType::Lz4);
            options.set_bottommost_compression_type(DBCompressionType::Zstd);
        }
    }
    if let Some(filter) = family.filter(&**schema) {
        options.set_compaction_filter_factory(Factory(filter));
    }
    options.set_block_based_table_factory(&blocks);
    options
}

/// Compaction by levels, the engine's default: with 30 million entries on two cores it took a third to a half more deliveries a
/// second than universal compaction. Four background jobs instead of two changed nothing.
fn merged(family: &Family, schema: &Arc<dyn Schema>, options: &mut Options) {
    let [full, partial] = [schema, schema].map(Arc::clone);
    let full = move |_: &[u8], row: Option<&[u8]>, steps: &MergeOperands| Some(full.merge(row, &in_order(steps)));
    let partial = move |_: &[u8], _: Option<&[u8]>, steps: &MergeOperands| Some(partial.join(&in_order(steps)));
    options.set_merge_operator(family.name, full, partial);
    options.set_max_successive_merges(STEPS);
    // A compaction rewrites the steps of all rows, so it waits for more files than the engine's 4. With 100 million entries
    // on two cores it took 1.8 to 2.0 million deliveries a second with 8 files, 2.0 to 2.2 with 16, and 1.8 to 2.9 with 24.
    options.set_level_zero_file_num_compaction_trigger(FRESH_FILES);
    options.set_level_zero_slowdown_writes_trigger(FRESH_FILES + 16);
    options.set_level_zero_stop_writes_trigger(FRESH_FILES + 32);
}

/// Adds steps to a row, each after the other.
fn summed(add: MergeStep, row: Option<&[u8]>, steps: &MergeOperands) -> Option<Vec<u8>> {
    steps.iter().fold(row.map(<[u8]>::to_vec), |sum, step| Some(add(sum.as_deref(), step)))
}

fn in_order(steps: &MergeOperands) -> Vec<&[u8]> {
    steps.iter().collect()
}
