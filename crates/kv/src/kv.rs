//! The interface of an engine: ordered rows in tables. It is RocksDB; tests put faults over it. Copies, the log and standbys use
//! RocksDB itself.

use crate::batch::Change;
use crate::family::Family;
use crate::view::{Snapshot, View};
use crate::{TableStats, Usage};
use model::error::{Error, Result};

/// An engine.
pub trait Kv: Send + Sync {
    /// All tables, each at its place.
    fn tables(&self) -> &[&'static Family];

    /// The rows as they are at each read.
    fn now(&self) -> View<'_>;

    /// The rows as they are when this returns.
    fn snapshot(&self) -> Snapshot<'_>;

    /// Writes all changes as one, in their order. In a directory they are in the write-ahead log when this returns, and with `sync`
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
