//! RocksDB in a data directory.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rocksdb::{
    BottommostLevelCompaction, CompactOptions, DBRawIterator, FlushOptions, ReadOptions, ReadTier, WriteBatch,
};

use super::directory::Directory;
use super::log::{self, trim_archive};
use super::opened::Opened;
use super::rebuild::Rebuild;
use super::run::Run;
use super::{advice, figures, open};
use crate::batch::{Change, Op};
use crate::error::storage;
use crate::family::{Family, Schema};
use crate::kv::{Kv, Reads, Row, RowWalk, Scope};
use crate::options::Options;
use crate::{TableStats, Tier, Usage};
use model::error::{Error, Result};
use model::failpoint::{self, Failpoint};
use model::private;

/// Bytes read ahead in a walk over a whole table.
const READ_AHEAD: usize = 1 << 20;

/// Most consecutive deleted rows that a walk from memory passes over. A walk over more goes to a thread that may block.
const MOST_SKIPPED: u64 = 1000;

/// An open data directory.
pub struct Disk {
    engine: Opened,
    /// The end of the last run, and this one.
    pub run: Run,
    /// See [`Options::write_buffer`].
    write_buffer: usize,
    schema: Arc<dyn Schema>,
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
    pub(crate) fn open(options: &Options, schema: &Arc<dyn Schema>) -> Result<Self> {
        let directory = Directory::claim(&options.dir)?;
        failpoint::pass(Failpoint::StartClaimed);
        let is_fresh = directory.is_fresh()?;
        if options.whole_log {
            log::must_be_whole(&options.dir)?;
        }
        let loses = !is_fresh && log::prepare(&options.dir, options.accept_log_loss)?;
        let run = Run::look(&options.dir, is_fresh, loses, options.sync);
        let opens = |how| open::open(options, schema, &directory.engine(), how, (is_fresh, loses));
        let engine = Opened::open(&options.dir, options, |health| {
            let mut rebuild = Rebuild::look(&options.dir, &**schema, !options.whole_log && health.takes_writes());
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
        Ok(Self { engine, run, write_buffer: options.write_buffer, schema: Arc::clone(schema), _directory: directory })
    }

    /// The path of the engine's files.
    pub(crate) fn path(&self) -> &Path {
        self.db.path()
    }

    /// All tables.
    pub(crate) fn families(&self) -> &[&'static Family] {
        self.schema.families()
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
        let families = self.families().iter().map(|table| self.family(table)).collect::<Result<Vec<_>>>()?;
        self.db.flush_cfs_opt(&families, &FlushOptions::default()).map_err(|error| {
            self.note(&error);
            self.failure(storage(error))
        })
    }

    /// The error for a reader of whole tables. Damage of a table that can be dropped needs no restore.
    pub fn failure(&self, error: Error) -> Error {
        let cause = advice::damage(&error);
        match cause.zip(self.rebuild.as_ref()).filter(|(cause, rebuild)| rebuild.tell_if_due(&self.db, cause)) {
            Some((cause, rebuild)) => Error::Storage(format!(
                "a file of the table {} is damaged; the next start drops the table: {cause}",
                rebuild.table()
            )),
            None => error,
        }
    }
}

impl Reads for Disk {
    fn get(&self, table: &'static Family, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>> {
        let row = self.db.get_pinned_cf_opt(self.family(table)?, key, &within(tier)).map_err(storage)?;
        Ok(row.map(Row::Written))
    }

    fn get_many(&self, table: &'static Family, keys: &[&[u8]]) -> Result<Vec<Option<Row<'_>>>> {
        many(self, table, keys, &ReadOptions::default())
    }

    fn walk(&self, table: &'static Family, tier: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>> {
        Ok(Box::new(Walk(self.db.raw_iterator_cf_opt(self.family(table)?, walking(tier, scope)))))
    }
}

/// The rows of a directory as of an instant.
struct Snapshot<'a> {
    disk: &'a Disk,
    at: rocksdb::Snapshot<'a>,
}

impl Reads for Snapshot<'_> {
    fn get(&self, table: &'static Family, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>> {
        let row = self.at.get_pinned_cf_opt(self.disk.family(table)?, key, within(tier)).map_err(storage)?;
        Ok(row.map(Row::Written))
    }

    fn get_many(&self, table: &'static Family, keys: &[&[u8]]) -> Result<Vec<Option<Row<'_>>>> {
        let mut options = ReadOptions::default();
        options.set_snapshot(&self.at);
        many(self.disk, table, keys, &options)
    }

    fn walk(&self, table: &'static Family, tier: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>> {
        Ok(Box::new(Walk(self.at.raw_iterator_cf_opt(self.disk.family(table)?, walking(tier, scope)))))
    }
}

/// A walk over a table of a directory.
pub(super) struct Walk<'a>(pub(super) DBRawIterator<'a>);

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

fn many<'a>(
    disk: &'a Disk,
    table: &'static Family,
    keys: &[&[u8]],
    options: &ReadOptions,
) -> Result<Vec<Option<Row<'a>>>> {
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

    fn write(
        &self,
        changes: &mut dyn Iterator<Item = (&'static Family, Change<'_>)>,
        bytes: usize,
        sync: bool,
    ) -> Result<()> {
        // A batch of items may have megabytes, which would be moved each time that the engine's form grows.
        let mut batch = WriteBatch::with_capacity_bytes(bytes);
        // Most changes come table by table.
        let mut last: Option<(&Family, _)> = None;
        for (table, change) in changes {
            let family = match last {
                Some((of, family)) if std::ptr::eq(of, table) => family,
                _ => self.family(table)?,
            };
            last = Some((table, family));
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
        let sums = self.families().iter().filter(|table| table.sum().is_some());
        for table in self.families().iter().chain(sums) {
            self.db.compact_range_cf_opt(self.family(table)?, None::<&[u8]>, None::<&[u8]>, &options);
        }
        // Log that earlier runs have kept for standbys has the removed rows, too.
        if self.kept_log.as_ref().is_none_or(|bytes| bytes.load(Ordering::Relaxed) == 0) {
            trim_archive(self.path(), 0);
        }
        Ok(())
    }

    fn size(&self, table: &'static Family) -> Result<TableStats> {
        figures::size(&self.engine, table)
    }

    fn usage(&self) -> Result<Usage> {
        figures::usage(&self.engine, self.families(), self.write_buffer)
    }

    fn refused(&self, cause: &str) -> Error {
        self.health.refused(cause)
    }
}
