//! Reactions.

pub(crate) mod changes;
pub(crate) mod reads;

pub use changes::{ask, kind, react};
pub use reads::{reacted_by, reactors};
