//! The write-ahead log of a store, for a standby.

use std::fmt::Debug;

use crate::error::Result;

/// What a standby compares with its own directory before it follows a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFacts {
    /// The id of the log. A restore, and a start that loses changes, begin another one.
    pub id: u64,
    /// The format of the data directory.
    pub format: u32,
    /// The tables with their numbers in the log.
    pub tables: Vec<(String, u32)>,
    /// The sequence number of the last row that is on the device.
    pub flushed: u64,
}

/// A place in the log.
pub trait LogReader: Debug + Send {
    /// The next batch of rows; `None` if no more are on the device now. A batch begins with its checksum. Refused with
    /// `log_gone` if the log does not have the next batch any more.
    fn next(&mut self) -> Result<Option<Vec<u8>>>;

    /// The number of the last row read.
    fn last(&self) -> u64;

    /// The number of the last row on the device now.
    fn flushed(&self) -> u64;

    /// About how many bytes of log come behind this place.
    fn left(&self) -> u64;
}
