//! Likes, favorites and other reactions of users to items.

pub(crate) mod changes;
pub(crate) mod reads;
pub mod tables;

pub use self::{changes::*, reads::*};
