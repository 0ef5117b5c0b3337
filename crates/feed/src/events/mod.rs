//! Events for readers: streams, and the feed of changes.

pub(crate) mod changes;
pub(crate) mod position;
pub(crate) mod receivers;
pub(crate) mod resume;
pub(crate) mod streams;
pub mod tables;
pub(crate) mod upkeep;

pub use changes::{begin_receiver, changes};
pub use receivers::keep_receiver;
pub(crate) use receivers::kept_position;
pub use resume::missed;
pub use streams::{happened, listen, on_present_paths, presence, set_presence};
pub(crate) use upkeep::{border, first_since};
pub use upkeep::{reset_time, tend, trim};
