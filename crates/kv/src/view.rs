//! Reads: rows by their keys, and walks, as the rows are now or as of an instant.

use std::ops::Deref;

use rocksdb::{ColumnFamily, DB, DBPinnableSlice, DBRawIterator, ReadOptions, ReadTier};

use crate::error::storage;
use crate::family::Family;
use model::error::{Error, Result};

/// Bytes read ahead in a walk over a whole table.
const READ_AHEAD: usize = 1 << 20;

/// Most consecutive deleted rows that a walk from memory passes over. A walk over more goes to a thread that may block.
const MOST_SKIPPED: u64 = 1000;

/// The depth to which a read may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// To the disk, if necessary.
    Disk,
    /// Only to memory; short enough for a thread that must not block.
    Memory,
}

/// The value of a row: from the engine, or from a change that is not written yet.
pub enum Row<'a> {
    /// Of RocksDB.
    Written(DBPinnableSlice<'a>),
    /// Of a change that is not written yet.
    Staged(Vec<u8>),
}

impl Row<'_> {
    /// Whether others see it. What is not written yet may fail, so no cache keeps it.
    pub fn is_written(&self) -> bool {
        !matches!(self, Self::Staged(_))
    }
}

impl Deref for Row<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Written(row) => row,
            Self::Staged(row) => row,
        }
    }
}

/// The rows at which a walk looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'k> {
    /// Those whose keys begin with the first eight bytes of the key that was sought last; each seek needs one. A walk with
    /// [`Tier::Memory`] ends with `NotCached` where it would pass over many deleted rows.
    Partition,
    /// All.
    Table,
    /// All before a key.
    Before(&'k [u8]),
    /// All, once: the walk reads ahead, and leaves the cache to others.
    Once,
}

/// A table of an open engine.
pub(crate) fn family<'a>(db: &'a DB, table: &Family) -> Result<&'a ColumnFamily> {
    db.cf_handle(table.name).ok_or_else(|| Error::Storage(format!("no table {table}")))
}

/// A table to read. One that a directory of an earlier version lacks is as empty as the engine's own.
pub(crate) fn to_read<'a>(db: &'a DB, table: &Family) -> Result<&'a ColumnFamily> {
    db.cf_handle(table.name).or_else(|| db.cf_handle("default")).map_or_else(|| family(db, table), Ok)
}

/// The rows of an engine, as they are at each read or as of an instant. A read with [`Tier::Memory`] never touches the disk: it
/// fails with `NotCached` instead.
#[derive(Clone, Copy)]
pub struct View<'a> {
    db: &'a DB,
    snapshot: Option<&'a rocksdb::Snapshot<'a>>,
}

/// An instant of an engine.
pub struct Snapshot<'a> {
    db: &'a DB,
    at: rocksdb::Snapshot<'a>,
}

impl<'a> Snapshot<'a> {
    pub(crate) fn of(db: &'a DB) -> Self {
        Self { db, at: db.snapshot() }
    }

    /// The rows as of the instant.
    pub(crate) fn view(&self) -> View<'_> {
        View { db: self.db, snapshot: Some(&self.at) }
    }
}

impl<'a> View<'a> {
    pub(crate) fn now(db: &'a DB) -> Self {
        Self { db, snapshot: None }
    }

    fn options(&self, tier: Tier) -> ReadOptions {
        let mut options = ReadOptions::default();
        if tier == Tier::Memory {
            options.set_read_tier(ReadTier::BlockCache);
        }
        if let Some(snapshot) = self.snapshot {
            options.set_snapshot(snapshot);
        }
        options
    }

    /// A row.
    pub(crate) fn get(&self, table: &Family, key: &[u8], tier: Tier) -> Result<Option<Row<'a>>> {
        let row = self.db.get_pinned_cf_opt(to_read(self.db, table)?, key, &self.options(tier)).map_err(storage)?;
        Ok(row.map(Row::Written))
    }

    /// A row for each of `keys`, in the order of `keys`; `None` where there is none. Also from the disk.
    pub(crate) fn get_many(&self, table: &Family, keys: &[&[u8]]) -> Result<Vec<Option<Row<'a>>>> {
        let options = self.options(Tier::Disk);
        let found = self.db.batched_multi_get_cf_opt(to_read(self.db, table)?, keys, false, &options);
        found.into_iter().map(|row| Ok(row.map_err(storage)?.map(Row::Written))).collect()
    }

    /// A walk over the rows of a table as they are when this returns.
    pub fn walk(&self, table: &Family, tier: Tier, scope: Scope<'_>) -> Result<RowWalk<'a>> {
        let mut options = self.options(tier);
        options.set_total_order_seek(scope != Scope::Partition);
        match scope {
            Scope::Partition => {
                // Ends at the partition's end, so no walk wades through deletions of the next one.
                options.set_prefix_same_as_start(true);
                if tier == Tier::Memory {
                    options.set_max_skippable_internal_keys(MOST_SKIPPED);
                }
            }
            Scope::Before(key) => options.set_iterate_upper_bound(key),
            Scope::Once => {
                options.fill_cache(false);
                options.set_readahead_size(READ_AHEAD);
            }
            Scope::Table => {}
        }
        Ok(RowWalk(self.db.raw_iterator_cf_opt(to_read(self.db, table)?, options)))
    }
}

/// A walk over rows in the order of their keys. It is at a row, or at none: before the first seek, behind the last row, and
/// after an error.
pub struct RowWalk<'a>(DBRawIterator<'a>);

impl RowWalk<'_> {
    /// Goes to the first row with a key or a greater one (`forward`), or to the last row with the key or a smaller one. Without a
    /// key it goes to the first row, or to the last.
    pub fn seek(&mut self, forward: bool, key: Option<&[u8]>) {
        match (forward, key) {
            (true, Some(key)) => self.0.seek(key),
            (true, None) => self.0.seek_to_first(),
            (false, Some(key)) => self.0.seek_for_prev(key),
            (false, None) => self.0.seek_to_last(),
        }
    }

    /// Goes to the next row (`forward`), or to the one before. The walk must be at a row.
    pub fn step(&mut self, forward: bool) {
        if forward { self.0.next() } else { self.0.prev() }
    }

    /// Key and value of the row.
    pub fn item(&self) -> Option<(&[u8], &[u8])> {
        self.0.item()
    }

    /// The error that ended the walk.
    pub fn status(&self) -> Result<()> {
        self.0.status().map_err(storage)
    }
}
