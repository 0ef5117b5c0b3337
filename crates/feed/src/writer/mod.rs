//! Changes, and how they are made.

pub(crate) mod command;
pub(crate) mod entry_times;
pub(crate) mod future_times;
pub(crate) mod group;
pub(crate) mod named;
pub(crate) mod thread;
pub(crate) mod txn;

pub(crate) use command::refuse_erasing;
pub(crate) use future_times::{latest, not_ahead};
