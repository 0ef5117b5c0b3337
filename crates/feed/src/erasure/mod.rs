//! Erasures of users.

pub(crate) mod changes;
pub(crate) mod eraser;
pub(crate) mod purge_items;
pub(crate) mod reads;
pub mod tables;

pub(crate) use self::purge_items::*;
pub use self::{changes::*, reads::*};
