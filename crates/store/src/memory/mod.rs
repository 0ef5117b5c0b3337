//! Copies and filters of tables in memory.

pub(crate) mod highest;
pub(crate) mod item_counts;
pub(crate) mod key_filter;
pub(crate) mod kinds;
pub(crate) mod mirror;
pub(crate) mod newest_reactions;
pub(crate) mod numbers;
pub(crate) mod outbox_parts;
