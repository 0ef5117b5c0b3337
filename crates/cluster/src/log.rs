//! The command log: the records that all nodes of a cluster apply, in one order.

use std::fmt::Debug;
use std::ops::Range;

use crate::prelude::*;

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number: rises from record to record.
    pub offset: u64,
    /// The time at which the log took it.
    pub time: Millis,
    /// Its bytes, as they were appended.
    pub bytes: Vec<u8>,
}

/// Why an append has no offset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub enum NotAppended {
    /// The record is not in the log, and will not come to be.
    Refused(String),
    /// It may be in the log, or come to be.
    Unknown(String),
}

/// Why a read has no records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub enum NotRead {
    /// The log does not answer; a later read may succeed.
    Unreachable(String),
    /// The log has no record at this place, and will not have: it begins later, or was cut before it.
    Gone(String),
}

/// A log with one order, of which an acknowledged record is never lost.
pub trait Log: Debug + Send + Sync {
    /// Appends a record, and returns its offset once as many replicas have it as the settings of the log ask for. Waits
    /// no longer than `timeout`. Appends of one caller that come one after another are in the log in this order; but one
    /// that ended with [`NotAppended::Unknown`] may still come, at any later place.
    fn append(&self, bytes: &[u8], timeout: Duration) -> Result<u64, NotAppended>;

    /// The next records from an offset on, ascending and without a hole; some hundred at most. Waits up to `timeout` for
    /// the first one, and then returns none. Calls come from one thread, each usually from where the last one ended.
    fn read(&self, from: u64, timeout: Duration) -> Result<Vec<Record>, NotRead>;

    /// The offset of the oldest record, and the offset after the newest one that readers may see. A node that no longer
    /// leads may answer with an old end, so the end proves nothing.
    fn bounds(&self, timeout: Duration) -> Result<Range<u64>, NotRead>;
}
