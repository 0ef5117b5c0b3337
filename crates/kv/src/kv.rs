//! The interface of an engine: ordered rows in tables. There are two, RocksDB and maps in memory. Copies, the log and standbys use
//! RocksDB itself.

use std::ops::Deref;
use std::sync::Arc;

use rocksdb::DBPinnableSlice;

use crate::batch::Change;
use crate::family::Family;
use crate::{TableStats, Usage};
use model::error::{Error, Result};

/// How far a read may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// To the disk, if necessary.
    Disk,
    /// Only to memory; short enough for a thread that must not block.
    Memory,
}

/// A row as the engine has it, or as it will be.
pub enum Row<'a> {
    /// Of RocksDB.
    Written(DBPinnableSlice<'a>),
    /// Of ordered maps.
    Kept(Arc<[u8]>),
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
            Self::Kept(row) => row,
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

/// Rows, as they are now or as of an instant. A read with [`Tier::Memory`] never touches the disk: it fails with `NotCached`
/// instead.
pub trait Reads {
    /// A row.
    fn get(&self, table: &'static Family, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>>;

    /// A row for each of `keys`, in the order of `keys`; `None` where there is none. Also from the disk.
    fn get_many(&self, table: &'static Family, keys: &[&[u8]]) -> Result<Vec<Option<Row<'_>>>> {
        keys.iter().map(|key| self.get(table, key, Tier::Disk)).collect()
    }

    /// A walk over the rows of a table as they are when this returns.
    fn walk(&self, table: &'static Family, tier: Tier, scope: Scope<'_>) -> Result<Box<dyn RowWalk + '_>>;
}

/// A walk over rows in the order of their keys. It is at a row, or at none: before the first seek, behind the last row, and
/// after an error.
pub trait RowWalk {
    /// Goes to the first row with a key or a greater one (`forward`), or to the last row with the key or a smaller one. Without a
    /// key it goes to the first row, or to the last.
    fn seek(&mut self, forward: bool, key: Option<&[u8]>);

    /// Goes to the next row (`forward`), or to the one before. The walk must be at a row.
    fn step(&mut self, forward: bool);

    /// Key and value of the row.
    fn item(&self) -> Option<(&[u8], &[u8])>;

    /// The error that ended the walk.
    fn status(&self) -> Result<()>;
}

/// An engine.
pub trait Kv: Reads + Send + Sync {
    /// The rows as they are now.
    fn snapshot(&self) -> Box<dyn Reads + '_>;

    /// Writes all changes as one, in their order. With RocksDB they are in the write-ahead log when this returns, and with `sync`
    /// on the device. `bytes` is about how many they have.
    fn write(
        &self,
        changes: &mut dyn Iterator<Item = (&'static Family, Change<'_>)>,
        bytes: usize,
        sync: bool,
    ) -> Result<()>;

    /// Makes all writes so far durable.
    fn sync(&self) -> Result<()>;

    /// Rewrites all tables without the rows that the filters drop.
    fn compact(&self) -> Result<()>;

    /// Rows and bytes of a table, by estimate.
    fn size(&self, table: &'static Family) -> Result<TableStats>;

    /// The engine in figures. May look at the disk.
    fn usage(&self) -> Result<Usage>;

    /// Counts a change that fails before it reaches the engine, and returns its error.
    fn refused(&self, cause: &str) -> Error;
}
