//! Server-sent events.

pub(crate) mod dispatch;
mod events;
mod stream;

pub(crate) use self::stream::endpoints;
