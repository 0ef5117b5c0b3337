//! Reads: pages of timelines and lists, and checks of them.

pub(crate) mod activity;
pub(crate) mod caches;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod followees;
pub(crate) mod home;
pub(crate) mod ids;
pub(crate) mod lists;
pub(crate) mod notices;
pub(crate) mod people;
pub(crate) mod read;
pub(crate) mod segment;
pub(crate) mod show;
pub(crate) mod sight;
pub(crate) mod standing;
pub(crate) mod verify;
pub(crate) mod warm;
