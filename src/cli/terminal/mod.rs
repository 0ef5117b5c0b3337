//! Parts that commands share: signals, log lines, progress.

pub(crate) mod generate;
pub(crate) mod interrupt;
pub(crate) mod key;
pub(crate) mod logging;
pub(crate) mod progress;
