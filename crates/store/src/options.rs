//! The options of a store.

use std::path::PathBuf;

use super::InboxRoom;
use crate::rows::filter::Filters;
use model::cache::memory::CacheMemory;
use model::store::Listeners;

/// Options for opening a store.
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
    /// Whether log that the store needs no more is kept for a standby, until [`Store::keep_log`](crate::Store::keep_log) says how
    /// much of it.
    pub keeps_log: bool,
    /// Whether tables are compacted in the background.
    pub compacts: bool,
    /// Whether filters and mirrors of tables are filled, in the background. Otherwise the answers to the same questions come
    /// from the tables.
    pub loads: bool,
    /// Changes are refused while fewer bytes are free on the file system; 0 for never.
    pub min_free: u64,
    /// Memory for all caches of the process: those of the store take their shares of it.
    pub cache_memory: CacheMemory,
    /// Memory for rows not yet in table files, bytes, all tables together. The log may have half as many.
    pub write_buffer: usize,
    /// Files kept open at once.
    pub max_open_files: i32,
    /// Memory for changes of inboxes that are not written yet, bytes.
    pub arrivals: usize,
    /// The number of entries that an inbox may have.
    pub inbox_room: InboxRoom,
    /// An outbox with more rows is reported to the listener; 0 for none.
    pub notice_outbox_above: usize,
    /// A topic with more rows is reported to the listener; 0 for none.
    pub notice_topic_above: usize,
    /// Callbacks for conditions that compactions notice.
    pub listeners: Listeners,
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
            loads: true,
            min_free: 0,
            cache_memory: CacheMemory::new(128 << 20),
            write_buffer: 64 << 20,
            max_open_files: 1024,
            arrivals: 64 << 20,
            inbox_room: InboxRoom { limit: 1000, slack: 250 },
            notice_outbox_above: 0,
            notice_topic_above: 1500,
            listeners: Listeners::default(),
        }
    }

    /// The filters of compactions.
    pub(crate) fn filters(&self) -> Filters {
        Filters::new(self.listeners.clone(), self.notice_outbox_above, self.notice_topic_above)
    }
}
