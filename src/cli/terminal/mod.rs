//! Parts that commands share: signals, log lines, progress, tables.

pub(crate) mod generate;
pub(crate) mod interrupt;
pub(crate) mod key;
pub(crate) mod logging;
pub(crate) mod part_file;
pub(crate) mod progress;
pub(crate) mod table;
pub(crate) mod units;
