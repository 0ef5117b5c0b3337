//! Server-sent events.

pub(crate) mod dispatch;
pub(crate) mod events;
pub(crate) mod stream;
