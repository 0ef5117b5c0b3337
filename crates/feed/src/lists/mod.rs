//! Lists of sources that users keep.

pub(crate) mod changes;
pub(crate) mod reads;
pub mod tables;

pub use self::{changes::*, reads::*};
