//! Lists of topics.

pub(crate) mod reads;
pub mod tables;

pub use reads::*;
