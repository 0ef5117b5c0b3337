//! Notices: their lists, their marker, and the streams that tell of them.

pub(crate) mod changes;
pub(crate) mod reads;
pub mod tables;
pub(crate) mod to_streams;

pub use reads::*;
pub(crate) use to_streams::{tell, tell_published, tell_reaction};
