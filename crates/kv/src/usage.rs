//! Figures of an engine: its tables, its memory, its work.

use model::Fill;

/// One table in figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStats {
    /// Its name, as in `docs/schema.md`.
    pub table: &'static str,
    /// The estimated number of rows.
    pub rows: u64,
    /// Bytes on disk and in write buffers.
    pub bytes: u64,
}

/// An engine in figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Every table.
    pub tables: Vec<TableStats>,
    /// Memory for blocks read from disk, bytes.
    pub block_cache: Fill,
    /// Memory for rows not yet in table files, bytes. Above the limit they are written out; the engine stops taking
    /// changes before the memory grows without bound.
    pub write_buffers: Fill,
    /// Most memory that such rows take while the device is slower than the changes, bytes.
    pub most_write_buffers: u64,
    /// The log on disk, bytes. Above the limit the oldest part is written out and dropped.
    pub log: Fill,
    /// The file system of the data directory, bytes.
    pub device: Fill,
    /// Whether changes are refused for now, because the device is full or the engine failed.
    pub writes_refused: bool,
    /// Whether the engine takes changes only after a restart.
    pub needs_restart: bool,
    /// Whether the engine takes no changes for now, because it cannot write out earlier ones.
    pub writes_stopped: bool,
    /// Failures in the engine's own threads.
    pub background_errors: u64,
    /// Its own work in the background.
    pub work: Work,
}

/// The engine's work in the background, and the waits of changes for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Compactions that run.
    pub compactions: u64,
    /// Write buffers that are being written to table files.
    pub flushes: u64,
    /// Estimated bytes that compactions have yet to rewrite.
    pub compaction_debt: u64,
    /// Table files that no compaction has seen yet, of the table that has most of them. Too many slow changes down,
    /// and then stop them.
    pub fresh_files: u64,
    /// How often changes began to be slowed down.
    pub slowdowns: u64,
    /// How often changes began to be stopped.
    pub stops: u64,
    /// Bytes a second to which changes are slowed down now; 0 for no limit.
    pub slowed_to: u64,
}
