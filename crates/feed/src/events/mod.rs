//! Events for readers: streams, and the feed of changes.

pub(crate) mod changes;
pub(crate) mod position;
pub(crate) mod receivers;
pub(crate) mod resume;
pub(crate) mod streams;
pub mod tables;
pub(crate) mod upkeep;

pub use self::{changes::*, position::*, receivers::*, resume::*, streams::*, upkeep::*};
