//! RocksDB in a data directory.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::Ordering;

use rocksdb::properties::{self, PropName};
use rocksdb::{
    BottommostLevelCompaction, ColumnFamily, CompactOptions, DBRawIterator, FlushOptions, ReadOptions, ReadTier,
    WriteBatch,
};

use super::directory::Directory;
use super::health;
use super::log::{self, trim_archive};
use super::open::log_limit;
use super::opened::Opened;
use super::rebuild::Rebuild;
use super::run::Run;
use super::{advice, open, table_options};
use crate::kv::{Kv, Reads, Row, RowWalk, Scope};
use crate::rows::batch::{Change, Op};
use crate::rows::filter::Filters;
use crate::rows::tables::{self, COUNTS, INBOXES, ITEM_COUNTS, Table};
use crate::{Options, storage};
use model::error::{Error, Result};
use model::failpoint::{self, Failpoint};
use model::store::{TableStats, Tier, Usage};
use model::{Fill, private};

/// Bytes read ahead in a walk over a whole table.
const READ_AHEAD: usize = 1 << 20;

/// Most consecutive deleted rows that a walk from memory passes over. A walk over more goes to a thread that may block.
const MOST_SKIPPED: u64 = 1000;

/// An open data directory.
pub(crate) struct Disk {
    engine: Opened,
    /// The end of the last run, and of this one.
    pub(crate) run: Run,
    /// See [`Options::write_buffer`].
    write_buffer: usize,
    filters: Filters,
    /// Released last: fields drop in order.
    _directory: Directory,
}

impl Deref for Disk {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.engine
    }
}

impl Disk {
    /// Opens a data directory, or makes one. Fails with a clear message if another process holds it or its format is
    /// unknown.
    pub(crate) fn open(options: &Options) -> Result<Self> {
        let directory = Directory::claim(&options.dir)?;
        failpoint::pass(Failpoint::StartClaimed);
        let is_fresh = directory.is_fresh()?;
        if options.whole_log {
            log::must_be_whole(&options.dir)?;
        }
        let loses = !is_fresh && log::prepare(&options.dir, options.accept_log_loss)?;
        let run = Run::look(&options.dir, is_fresh, loses);
        let filters = options.filters();
        let opens = |how| open::open(options, &filters, &directory.engine(), how, (is_fresh, loses));
        let engine = Opened::open(&options.dir, options, |health| {
            let mut rebuild = Rebuild::look(&options.dir, !options.whole_log && health.takes_writes());
            let db = rebuild.open(opens)?.map_err(|error| advice::cannot_open(&options.dir, &error))?;
            Ok((db, Some(rebuild)))
        })?;
        directory.created()?;
        if is_fresh {
            tracing::info!(data_dir = %options.dir.display(), "a new data directory was made");
        } else if private::admits_all(&options.dir) && private::admits_all(&directory.engine()) {
            tracing::warn!(data_dir = %options.dir.display(),
                "every user of this machine may read the data; chmod o= the data directory");
        }
        Ok(Self { engine, run, write_buffer: options.write_buffer, filters, _directory: directory })
    }

    /// The path of the engine's files.
    pub(crate) fn path(&self) -> &Path {
        self.db.path()
    }

    pub(crate) fn family(&self, table: Table) -> Result<&ColumnFamily> {
        self.db.cf_handle(table.name).ok_or_else(|| Error::Storage(format!("no table {table}")))
    }

    pub(crate) fn figure(&self, table: Table, name: &PropName) -> Result<u64> {
        let figure = self.db.property_int_value_cf(self.family(table)?, name).map_err(storage)?;
        Ok(figure.unwrap_or_default())
    }

    /// Writes all in memory to table files, so that the next start has nothing to replay. No write comes after it.
    pub(crate) fn stop(&self) {
        self.keeper.lock().stop();
        match self.flush() {
            Ok(()) => self.run.stop(),
            Err(error) => {
                tracing::warn!(%error,
                    "the write buffers could not be written to table files; the next start replays the write-ahead \
                     log");
            }
        }
        failpoint::pass(Failpoint::StopFlushed);
    }

    /// Takes all writes so far from the log into the files of the tables.
    pub(crate) fn flush(&self) -> Result<()> {
        let families = tables::ALL.iter().map(|table| self.family(table)).collect::<Result<Vec<_>>>()?;
        self.db.flush_cfs_opt(&families, &FlushOptions::default()).map_err(|error| {
            self.note(&error);
            self.failure(storage(error))
        })
    }

    /// The error for a reader of whole tables. Damage of inboxes needs no restore.
    pub(crate) fn failure(&self, error: Error) -> Error {
        let cause = advice::damage(&error);
        match cause.zip(self.rebuild.as_ref()).filter(|(cause, rebuild)| rebuild.tell_if_due(&self.db, cause)) {
            Some((cause, _)) => Error::Storage(format!(
                "a file of the table inboxes is damaged; the next start drops the table: {cause}"
            )),
            None => error,
        }
    }

    /// The file system of the directory; nothing if it cannot tell.
    fn device(&self) -> Fill {
        let (free, all) = rustix::fs::statvfs(self.path()).as_ref().map(health::room).unwrap_or_default();
        Fill { used: all.saturating_sub(free), limit: all }
    }
}

impl Reads for Disk {
    fn get(&self, table: Table, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>> {
        let row = self.db.get_pinned_cf_opt(self.family(table)?, key, &within(tier)).map_err(storage)?;
        Ok(row.map(Row::Written))
    }

    fn get_many(&self, table: Table, keys: &[&[u8]]) -> Result<Vec<Option<Row<'_>>>> {
        many(self, table, keys, &ReadOptions::default())
    }

    fn walk(&self, table: Table, tier: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>> {
        Ok(Box::new(Walk(self.db.raw_iterator_cf_opt(self.family(table)?, walking(tier, scope)))))
    }
}

/// The rows of a directory as of an instant.
struct Snapshot<'a> {
    disk: &'a Disk,
    at: rocksdb::Snapshot<'a>,
}

impl Reads for Snapshot<'_> {
    fn get(&self, table: Table, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>> {
        let row = self.at.get_pinned_cf_opt(self.disk.family(table)?, key, within(tier)).map_err(storage)?;
        Ok(row.map(Row::Written))
    }

    fn get_many(&self, table: Table, keys: &[&[u8]]) -> Result<Vec<Option<Row<'_>>>> {
        let mut options = ReadOptions::default();
        options.set_snapshot(&self.at);
        many(self.disk, table, keys, &options)
    }

    fn walk(&self, table: Table, tier: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>> {
        Ok(Box::new(Walk(self.at.raw_iterator_cf_opt(self.disk.family(table)?, walking(tier, scope)))))
    }
}

struct Walk<'a>(DBRawIterator<'a>);

impl RowWalk for Walk<'_> {
    fn seek(&mut self, forward: bool, key: Option<&[u8]>) {
        match (forward, key) {
            (true, Some(key)) => self.0.seek(key),
            (true, None) => self.0.seek_to_first(),
            (false, Some(key)) => self.0.seek_for_prev(key),
            (false, None) => self.0.seek_to_last(),
        }
    }

    fn step(&mut self, forward: bool) {
        if forward { self.0.next() } else { self.0.prev() }
    }

    fn item(&self) -> Option<(&[u8], &[u8])> {
        self.0.item()
    }

    fn status(&self) -> Result<()> {
        self.0.status().map_err(storage)
    }
}

fn many<'a>(disk: &'a Disk, table: Table, keys: &[&[u8]], options: &ReadOptions) -> Result<Vec<Option<Row<'a>>>> {
    let found = disk.db.batched_multi_get_cf_opt(disk.family(table)?, keys, false, options);
    found.into_iter().map(|row| Ok(row.map_err(storage)?.map(Row::Written))).collect()
}

fn within(tier: Tier) -> ReadOptions {
    let mut options = ReadOptions::default();
    if tier == Tier::Memory {
        options.set_read_tier(ReadTier::BlockCache);
    }
    options
}

/// The options of a walk.
pub(crate) fn walking(tier: Tier, scope: Scope<'_>) -> ReadOptions {
    let mut options = within(tier);
    if scope == Scope::Partition {
        // Ends at the partition's end, so no walk wades through deletions of the next one.
        options.set_prefix_same_as_start(true);
        if tier == Tier::Memory {
            options.set_max_skippable_internal_keys(MOST_SKIPPED);
        }
        return options;
    }
    options.set_total_order_seek(true);
    match scope {
        Scope::Before(key) => options.set_iterate_upper_bound(key),
        Scope::Once => {
            options.fill_cache(false);
            options.set_readahead_size(READ_AHEAD);
        }
        Scope::Table | Scope::Partition => {}
    }
    options
}

impl Kv for Disk {
    fn snapshot(&self) -> Box<dyn Reads + '_> {
        Box::new(Snapshot { disk: self, at: self.db.snapshot() })
    }

    fn write(&self, changes: &mut dyn Iterator<Item = (Table, Change<'_>)>, bytes: usize, sync: bool) -> Result<()> {
        // A batch of items may have megabytes, which would be moved each time that the engine's form grows.
        let mut batch = WriteBatch::with_capacity_bytes(bytes);
        for (table, change) in changes {
            let family = self.family(table)?;
            match change {
                Change::Row(key, Op::Put(value)) => batch.put_cf(family, key, value),
                Change::Row(key, Op::Delete) => batch.delete_cf(family, key),
                Change::Row(key, Op::Merge(step)) => batch.merge_cf(family, key, step),
                Change::Range(from, to) => batch.delete_range_cf(family, from, to),
            }
        }
        self.engine.write(batch, sync)
    }

    fn sync(&self) -> Result<()> {
        self.flush_log().map_err(storage)
    }

    fn compact(&self) -> Result<()> {
        self.flush()?;
        // Otherwise the marks of removed rows, which have their keys, stay where no other file has these keys.
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        // The second time, the sums of the first that are zero leave.
        for table in tables::ALL.iter().chain(&[COUNTS, ITEM_COUNTS]) {
            self.db.compact_range_cf_opt(self.family(table)?, None::<&[u8]>, None::<&[u8]>, &options);
        }
        // Log that earlier runs have kept for standbys has the removed rows, too.
        if self.kept_log.as_ref().is_none_or(|bytes| bytes.load(Ordering::Relaxed) == 0) {
            trim_archive(self.path(), 0);
        }
        Ok(())
    }

    fn size(&self, table: Table) -> Result<TableStats> {
        let on_disk = self.figure(table, properties::TOTAL_SST_FILES_SIZE)?;
        let in_memory = self.figure(table, properties::CUR_SIZE_ALL_MEM_TABLES)?;
        let rows = self.figure(table, properties::ESTIMATE_NUM_KEYS)?;
        Ok(TableStats { table: table.name, rows, bytes: on_disk + in_memory })
    }

    fn usage(&self) -> Result<Usage> {
        // Also without changes it is noticed that the directory is gone.
        self.health.look();
        // The tables share one cache and one engine, so figures of one table hold for all.
        let shared = |name| self.figure(INBOXES, name);
        let mut write_buffers = Fill::of(0, self.write_buffer);
        for table in tables::ALL {
            write_buffers.used += self.figure(table, properties::SIZE_ALL_MEM_TABLES)?;
        }
        // Only the engine's own table counts them.
        let errors = self.db.property_int_value(properties::BACKGROUND_ERRORS).map_err(storage)?;
        Ok(Usage {
            block_cache: Fill {
                used: shared(properties::BLOCK_CACHE_USAGE)?,
                limit: shared(properties::BLOCK_CACHE_CAPACITY)?,
            },
            write_buffers,
            most_write_buffers: table_options::most_write_buffers().max(self.write_buffer as u64),
            log: Fill { used: log::log_bytes(self.path()), limit: log_limit(self.write_buffer) },
            device: self.device(),
            writes_refused: self.health.is_failing(),
            needs_restart: self.health.has_ended(),
            writes_stopped: shared(properties::IS_WRITE_STOPPED)? > 0,
            background_errors: errors.unwrap_or_default(),
            engine: self.engine_figures()?,
            ..Usage::default()
        })
    }

    fn refused(&self, cause: &str) -> Error {
        self.health.refused(cause)
    }

    fn filters(&self) -> &Filters {
        &self.filters
    }
}
