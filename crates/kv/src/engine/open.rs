//! How the engine is opened: its options that hold for all tables, and the priority of its threads.

use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rocksdb::{ColumnFamilyDescriptor, DB, DBRecoveryMode};

use super::table_options;
use crate::engine::messages as engine_log;
use crate::family::Schema;
use crate::options::Options;
use model::error::{Error, Result};
use model::priority;

/// The limit of the log's size, bytes: above it the table with the oldest rows in the log is written out. Bounds the
/// replay at start. A row takes about twice as much in memory as in the log, so full write buffers make a log of this
/// size.
pub(crate) fn log_limit(write_buffer: usize) -> u64 {
    write_buffer as u64 / 2
}

/// Most flushes (a quarter of them, at least one) and compactions at once: those of half of the cores. While the engine keeps
/// up, it takes one compaction at a time, whatever this says; the others begin when a table has too many fresh files. They
/// have the priority of jobs, so pages come first. More than 16 would wait for the device.
fn jobs(cores: usize) -> i32 {
    (cores / 2).clamp(2, 16) as i32
}

/// Threads of one compaction of fresh files. A table has one such compaction at a time, and one table may take nearly all
/// that is written: more jobs alone would not make it quicker.
fn parts(cores: usize) -> u32 {
    (cores / 4).clamp(1, 4) as u32
}

/// Seconds; ten years.
const FOR_EVER: u64 = 315_360_000;

/// The options for all tables. `loses` permits the engine to go on without a part of its log.
pub(crate) fn options(options: &Options, is_fresh: bool, loses: bool) -> rocksdb::Options {
    let mut engine = rocksdb::Options::default();
    engine.create_if_missing(is_fresh);
    engine.create_missing_column_families(true);
    engine.set_max_open_files(options.max_open_files);
    engine.set_db_write_buffer_size(options.write_buffer);
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    engine.set_max_background_jobs(jobs(cores));
    engine.set_max_subcompactions(parts(cores));
    // For each table, also for one without files: with the engine's 16, a start begins and ends 700 threads.
    engine.set_max_file_opening_threads(2);
    engine.set_bytes_per_sync(1 << 20);
    // A quiet table pins the shared log; this flushes it.
    engine.set_max_total_wal_size(log_limit(options.write_buffer));
    // A power cut may leave unflushed data torn or in any order, so the replay ends at the first gap. All flushed
    // data must be there and whole, or the start fails; see `log`.
    engine.set_wal_recovery_mode(DBRecoveryMode::PointInTime);
    engine.set_track_and_verify_wals_in_manifest(!loses);
    if options.keeps_log {
        // Log files that the engine needs no more go into its archive, from which only `log::Keeper` removes them.
        engine.set_wal_ttl_seconds(FOR_EVER);
    }
    if let Some(logger) = engine_log::logger() {
        engine.set_info_logger(logger);
    }
    // A reader that releases a table's last file, such as an iterator, leaves its removal to the engine.
    engine.set_avoid_unnecessary_blocking_io(true);
    engine.set_stats_dump_period_sec(0);
    engine
}

/// The column families with their options. They share one block cache.
pub(crate) fn families(options: &Options, schema: &Arc<dyn Schema>, compacts: bool) -> Vec<ColumnFamilyDescriptor> {
    let cache = table_options::cache(options.cache_memory);
    // The engine's own table is empty. But to recover from a full device, the engine wants as much room as the largest
    // write buffer of any table.
    let mut unused = rocksdb::Options::default();
    unused.set_write_buffer_size(1 << 20);
    let unused = ColumnFamilyDescriptor::new("default", unused);
    schema
        .families()
        .iter()
        .map(|family| {
            let mut options = table_options::options(family, &cache, schema);
            options.set_disable_auto_compactions(!compacts);
            ColumnFamilyDescriptor::new(family.name, options)
        })
        .chain([unused])
        .collect()
}

/// How the engine is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// As usual.
    Usual,
    /// Without compactions, which would stop at damage.
    Quiet,
    /// Without compactions, and although it cannot open some files. It then passes over damage of its log, too.
    Lenient,
}

/// The result of an opening.
pub(crate) type Opened = Result<DB, rocksdb::Error>;

/// Opens the engine for reading and writing. Its threads for flushes and compactions get the priority of jobs: a thread has the
/// priority of the one that starts it, and the engine starts them when a process opens it first.
pub(crate) fn open(
    options: &Options,
    schema: &Arc<dyn Schema>,
    dir: &Path,
    how: Opening,
    (is_fresh, loses): (bool, bool),
) -> Result<Opened> {
    let families = families(options, schema, options.compacts && how == Opening::Usual);
    let mut engine = self::options(options, is_fresh, loses);
    engine.set_paranoid_checks(how != Opening::Lenient);
    let opener = || {
        priority::lower(priority::JOBS);
        DB::open_cf_descriptors(&engine, dir, families)
    };
    thread::scope(|scope| {
        let opener = thread::Builder::new().name("open".to_owned()).spawn_scoped(scope, opener);
        let opened = opener.map_err(|e| Error::Setup(format!("cannot start a thread: {e}")))?.join();
        opened.map_err(|_| Error::Storage("the engine panicked while it opened".to_owned()))
    })
}
