//! Notices: their lists, their marker, and the streams that tell of them.

pub(crate) mod changes;
pub(crate) mod reads;
pub mod tables;
pub(crate) mod tell;

pub use reads::{at, find, find_span, marker, page, unread};
pub(crate) use tell::{tell, tell_published, tell_reaction};
