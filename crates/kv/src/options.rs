//! The options of an engine.

use std::path::PathBuf;

use model::cache::memory::CacheMemory;

/// The folder of the engine's files in a data directory.
pub const ENGINE: &str = "db";

/// Options for opening the engine of a data directory.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory; made if it is missing.
    pub dir: PathBuf,
    /// Whether each change is flushed to the device before it is acknowledged.
    pub sync: bool,
    /// Whether to open a directory whose damaged log loses acknowledged changes.
    pub accept_log_loss: bool,
    /// Whether to refuse a log with a torn end, which a backup does not have.
    pub whole_log: bool,
    /// Whether to reserve room on the device for a start.
    pub keep_room: bool,
    /// Whether log that the engine needs no more is kept for a standby, until [`Disk::keep_log`](crate::Disk::keep_log) says how
    /// much of it.
    pub keeps_log: bool,
    /// Whether tables are compacted in the background.
    pub compacts: bool,
    /// Changes are refused while fewer bytes are free on the file system; 0 for never.
    pub min_free: u64,
    /// Memory for all caches of the process: that of blocks takes its share of it.
    pub cache_memory: CacheMemory,
    /// Memory for rows not yet in table files, bytes, all tables together. The log may have half as many.
    pub write_buffer: usize,
    /// Files kept open at once.
    pub max_open_files: i32,
}

impl Options {
    /// Defaults for a directory.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            sync: true,
            accept_log_loss: false,
            whole_log: false,
            keep_room: false,
            keeps_log: false,
            compacts: true,
            min_free: 0,
            cache_memory: CacheMemory::new(128 << 20),
            write_buffer: 64 << 20,
            max_open_files: 1024,
        }
    }
}
