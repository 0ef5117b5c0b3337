//! Copies and filters of tables in memory.

pub(crate) mod item_counts;
pub(crate) mod key_filter;
pub(crate) mod newest_reactions;
pub(crate) mod numbering;
pub(crate) mod outbox_parts;
pub(crate) mod partial_push_recipients;
pub(crate) mod topic_ends;
pub(crate) mod unpushed;
