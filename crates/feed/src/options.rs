//! The options of a store.

use std::path::PathBuf;

use model::{ContentId, Millis, TopicId, UserId};
use std::sync::Arc;

/// Callbacks for conditions that the store notices.
#[derive(Clone)]
pub struct Listeners {
    /// A deleted item was seen, with the time of the deletion. The item may have been purged or restored since. Must
    /// not block.
    pub deleted_item: Arc<dyn Fn(ContentId, Millis) + Send + Sync>,
    /// An outbox was seen with clearly more than the limit of entries. Must not block.
    pub oversized_outbox: Arc<dyn Fn(UserId) + Send + Sync>,
    /// A topic was seen with clearly more than the limit of items. Must not block.
    pub oversized_topic: Arc<dyn Fn(TopicId) + Send + Sync>,
}

impl Default for Listeners {
    /// Callbacks that do nothing.
    fn default() -> Self {
        Self {
            oversized_outbox: Arc::new(|_| {}),
            oversized_topic: Arc::new(|_| {}),
            deleted_item: Arc::new(|_, _| {}),
        }
    }
}

impl std::fmt::Debug for Listeners {
    #[inline]
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listeners")
    }
}

/// How many entries an inbox may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxRoom {
    /// Entries that a trim leaves.
    pub limit: usize,
    /// Entries beyond the limit that an inbox may have before it is trimmed. Each trim costs as much as the inbox has
    /// entries; with the slack, not every merge is a trim.
    pub slack: usize,
}

/// Options for opening a store.
#[derive(Debug, Clone)]
pub struct Options {
    /// Those of the engine.
    pub engine: kv::Options,
    /// Whether filters and mirrors of tables are filled, in the background. Otherwise the answers to the same questions come
    /// from the tables.
    pub loads: bool,
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
            engine: kv::Options::new(dir),
            loads: true,
            arrivals: 64 << 20,
            inbox_room: InboxRoom { limit: 1000, slack: 250 },
            notice_outbox_above: 0,
            notice_topic_above: 1500,
            listeners: Listeners::default(),
        }
    }

    /// These options, with others for the engine.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut kv::Options)) -> Self {
        set(&mut self.engine);
        self
    }
}
