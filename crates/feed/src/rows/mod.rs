//! The rows: tables, keys, values, changes, and what compactions drop.

pub(crate) mod changes;
pub(crate) mod compaction_rules;
pub(crate) mod inbox;
pub(crate) mod keys;
pub(crate) mod mirrors;
pub(crate) mod schema;
pub(crate) mod table;
pub(crate) mod tables;
pub(crate) mod values;
pub(crate) mod walk;
