//! Server-sent events.

pub(crate) mod dispatch;
pub(crate) mod events;
pub(crate) mod response;
mod stream;

pub(crate) use self::stream::endpoints;
