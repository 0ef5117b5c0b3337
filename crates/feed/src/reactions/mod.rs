//! Likes, favorites and other reactions of users to items.

pub(crate) mod changes;
pub(crate) mod reads;
pub mod tables;

pub use changes::{ask, kind, react};
pub use reads::*;
