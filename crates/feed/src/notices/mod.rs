//! Notices: their lists, their marker, and the streams that tell of them.

pub(crate) mod changes;
pub(crate) mod reads;
pub mod tables;
pub(crate) mod to_streams;

pub use self::reads::*;
pub(crate) use self::to_streams::*;
