//! The calls of applications, by resource.

pub(crate) mod barriers;
pub(crate) mod comments;
pub(crate) mod content;
pub(crate) mod markers;
pub(crate) mod presence;
pub(crate) mod reactions;
pub(crate) mod relations;
pub(crate) mod show;
pub(crate) mod timelines;
pub(crate) mod users;
