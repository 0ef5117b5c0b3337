//! The log as a standby reads it.

use std::sync::atomic::Ordering;

use rocksdb::{DB, WriteBatch};

use super::directory;
use super::disk::Disk;
use super::health::is_tight;
use super::log::{LogReader, varint};
use crate::family::Family;
use crate::kv::Kv;
use crate::view::family;
use model::error::{Code, Error, Result};
use serde::{Deserialize, Serialize};

/// What a standby compares with its own directory before it follows a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFacts {
    /// The id of the log. A restore, and a start that loses changes, begin another one.
    pub id: u64,
    /// The format of the data directory.
    pub format: u32,
    /// The version of the server.
    pub release: String,
    /// The tables with their numbers in the log.
    pub tables: Vec<(String, u32)>,
    /// The sequence number of the last row that is on the device.
    pub flushed: u64,
}

/// Bytes of a batch before its first row.
const BATCH_HEAD: usize = 12;

impl Disk {
    /// The facts of the log, now.
    pub fn log_facts(&self) -> Result<LogFacts> {
        // Not more than is on the device, so that a standby that has it never has more than this store.
        let flushed = self.flushed.through();
        let release = env!("CARGO_PKG_VERSION").to_owned();
        Ok(LogFacts {
            id: self.run.log(),
            format: directory::CURRENT,
            release,
            tables: tables_in(&self.db, self.tables())?,
            flushed,
        })
    }

    /// Reads the log behind the row with this number. Refused with `log_gone` if there is no such row.
    pub fn read_log(&self, after: u64) -> Result<LogReader> {
        if after > self.flushed.through() {
            return Err(Code::LogGone.into());
        }
        Ok(LogReader::new(self.path(), &self.flushed, after))
    }

    /// From now on keeps so many bytes of log that the store itself needs no more; none while the device has little room.
    /// The store keeps all of them until this is called first. Returns whether the device has room.
    pub fn keep_log(&self, bytes: u64) -> bool {
        if let Some(kept) = &self.kept_log {
            kept.store(bytes.min(u64::MAX - 1), Ordering::Relaxed);
        }
        !is_tight(self.path(), self.health.min_free)
    }

    /// Refuses all writes from now on with `handing_over`, and waits for those under way. Returns the number of the last
    /// row, which is on the device. Reads go on.
    pub fn seal(&self) -> Result<u64> {
        if !self.health.seal() {
            return Err(Code::StorageUnavailable.into());
        }
        self.sync()?;
        Ok(self.db.latest_sequence_number())
    }

    /// Takes writes again.
    pub fn unseal(&self) {
        self.health.unseal();
    }
}

/// The numbers of all tables in the log of an engine.
pub(crate) fn tables_in(db: &DB, families: &[&'static Family]) -> Result<Vec<(String, u32)>> {
    families.iter().map(|family| Ok((family.name.to_owned(), number_of(db, family)?))).collect()
}

/// The number of a table. The engine tells it only in its batches.
fn number_of(db: &DB, table: &Family) -> Result<u32> {
    let mut batch = WriteBatch::default();
    batch.put_cf(family(db, table)?, b"", b"");
    let mut row = batch.data().get(BATCH_HEAD + 1..).unwrap_or_default();
    let number = varint(&mut row).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| Error::Storage(format!("the engine gave no number of the table {table}")))
}
