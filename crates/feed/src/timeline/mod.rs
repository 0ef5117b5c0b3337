//! Reads: pages of timelines and lists, and checks of them.

pub(crate) mod cards;
pub(crate) mod content_cache;
pub(crate) mod explain;
pub(crate) mod followees;
pub(crate) mod home;
pub(crate) mod lists;
pub(crate) mod reading;
pub(crate) mod segment;
pub(crate) mod show;
pub(crate) mod sight;
pub(crate) mod topics;
pub(crate) mod verify;
