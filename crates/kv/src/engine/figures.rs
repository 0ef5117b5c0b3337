//! The engine in figures. All are properties that the engine keeps anyway: its statistics, which have more, would cost a few
//! percent of each read.

use rocksdb::DB;
use rocksdb::properties::{self, PropName};

use super::open::log_limit;
use super::writable::Opened;
use super::{health, log, table_options};
use crate::error::storage;
use crate::family::Family;
use crate::view::to_read;
use crate::{TableStats, Usage, Work};
use model::Fill;
use model::error::Result;

const FRESH_FILES: &str = "rocksdb.num-files-at-level0";
const DELAYED_WRITE_RATE: &str = "rocksdb.actual-delayed-write-rate";
/// One line of `name: count` pairs with commas between them.
const STALLS: &str = "rocksdb.cf-write-stall-stats";

/// A figure of a table.
pub(crate) fn figure(db: &DB, table: &Family, name: &PropName) -> Result<u64> {
    let figure = db.property_int_value_cf(to_read(db, table)?, name).map_err(storage)?;
    Ok(figure.unwrap_or_default())
}

/// A figure that is the same for all tables: they share one cache and one engine.
fn shared(db: &DB, families: &[&'static Family], name: &PropName) -> Result<u64> {
    families.first().map_or(Ok(0), |table| figure(db, table, name))
}

fn text(db: &DB, table: &Family, name: &str) -> Result<String> {
    Ok(db.property_value_cf(to_read(db, table)?, name).map_err(storage)?.unwrap_or_default())
}

/// Rows and bytes of a table, by estimate.
pub(crate) fn size(db: &DB, table: &Family) -> Result<TableStats> {
    let on_disk = figure(db, table, properties::TOTAL_SST_FILES_SIZE)?;
    let in_memory = figure(db, table, properties::CUR_SIZE_ALL_MEM_TABLES)?;
    let rows = figure(db, table, properties::ESTIMATE_NUM_KEYS)?;
    Ok(TableStats { table: table.name, rows, bytes: on_disk + in_memory })
}

/// All of them, now. `limit` is the memory for write buffers, bytes.
pub(crate) fn usage(engine: &Opened, families: &[&'static Family], limit: usize) -> Result<Usage> {
    let db = &*engine.db;
    // Also without changes it is noticed that the directory is gone.
    engine.health.look();
    let shared = |name| shared(db, families, name);
    let mut write_buffers = Fill::of(0, limit);
    for table in families {
        write_buffers.used += figure(db, table, properties::SIZE_ALL_MEM_TABLES)?;
    }
    // Only the engine's own table counts them.
    let errors = db.property_int_value(properties::BACKGROUND_ERRORS).map_err(storage)?;
    Ok(Usage {
        block_cache: Fill {
            used: shared(properties::BLOCK_CACHE_USAGE)?,
            limit: shared(properties::BLOCK_CACHE_CAPACITY)?,
        },
        write_buffers,
        most_write_buffers: table_options::most_write_buffers(families).max(limit as u64),
        log: Fill { used: log::log_bytes(db.path()), limit: log_limit(limit) },
        device: device(db),
        writes_refused: engine.health.is_failing(),
        needs_restart: engine.health.has_ended(),
        writes_stopped: shared(properties::IS_WRITE_STOPPED)? > 0,
        background_errors: errors.unwrap_or_default(),
        work: work(db, families)?,
        ..Usage::default()
    })
}

/// The file system of the directory; nothing if it cannot tell.
fn device(db: &DB) -> Fill {
    let (free, all) = rustix::fs::statvfs(db.path()).as_ref().map(health::room).unwrap_or_default();
    Fill { used: all.saturating_sub(free), limit: all }
}

/// Compactions and stalls.
fn work(db: &DB, families: &[&'static Family]) -> Result<Work> {
    let mut usage = Work {
        compactions: shared(db, families, properties::NUM_RUNNING_COMPACTIONS)?,
        flushes: shared(db, families, properties::NUM_RUNNING_FLUSHES)?,
        slowed_to: db.property_int_value(DELAYED_WRITE_RATE).map_err(storage)?.unwrap_or_default(),
        ..Work::default()
    };
    for table in families {
        usage.compaction_debt += figure(db, table, properties::ESTIMATE_PENDING_COMPACTION_BYTES)?;
        let fresh = text(db, table, FRESH_FILES)?.trim().parse().unwrap_or(0);
        usage.fresh_files = usage.fresh_files.max(fresh);
        let stalls = text(db, table, STALLS)?;
        usage.slowdowns += count(&stalls, "total-delays");
        usage.stops += count(&stalls, "total-stops");
    }
    Ok(usage)
}

/// The count of a name in a line of pairs; 0 if there is none.
fn count(line: &str, name: &str) -> u64 {
    let pairs = line.split([',', '\n']).filter_map(|pair| pair.rsplit_once(": "));
    let found = pairs.map(|(before, count)| (before.trim().trim_start_matches("Write Stall (count): "), count));
    found.filter(|(found, _)| *found == name).filter_map(|(_, count)| count.trim().parse().ok()).next().unwrap_or(0)
}
