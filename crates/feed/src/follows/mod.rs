//! Follows and requests to follow.

pub(crate) mod changes;
pub(crate) mod reads;
pub(crate) mod requests;
pub mod tables;

pub use self::{changes::*, reads::*, requests::*};
