//! Events for streams: those on disk, those that a stream missed, and presence.

pub(crate) mod catch_up;
pub(crate) mod changes;
pub(crate) mod on_disk;
pub(crate) mod personal;
mod receivers;
pub(crate) mod streaming;
