//! Erasures of users.

pub(crate) mod changes;
pub(crate) mod eraser;
pub(crate) mod purge_items;
pub(crate) mod reads;
pub mod tables;

pub use changes::{erase, erasure_hash};
pub(crate) use purge_items::{drop_fan_outs, has_jobs_of, purge_erased};
pub use reads::*;
