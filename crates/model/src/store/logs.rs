//! The write-ahead log of a store, for a standby.

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
