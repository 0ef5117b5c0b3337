//! The engine: its directory, options, log, health, and work on the whole of it.

pub(crate) mod backup;
pub(crate) mod bare;
pub(crate) mod compaction_filter;
pub(crate) mod directory;
pub(crate) mod disk;
pub(crate) mod figures;
pub(crate) mod health;
pub(crate) mod last_run;
pub(crate) mod log;
pub(crate) mod log_source;
pub(crate) mod messages;
pub(crate) mod open;
pub(crate) mod open_advice;
pub(crate) mod rebuild;
pub(crate) mod reserved_space;
pub(crate) mod rows;
pub(crate) mod stall;
pub(crate) mod standby;
pub(crate) mod table_options;
pub(crate) mod writable;
