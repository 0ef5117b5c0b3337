//! The options of a store.

use std::path::PathBuf;

use model::store::Listeners;

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
