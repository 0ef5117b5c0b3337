//! Commands, and the thread that makes them in groups.

pub(crate) mod command;
pub(crate) mod entry_times;
pub(crate) mod future_times;
pub(crate) mod group;
pub(crate) mod joined;
pub(crate) mod named;
pub(crate) mod thread;
pub(crate) mod txn;

pub(crate) use future_times::{latest, not_ahead};
pub(crate) use named::refuse_erasing;
