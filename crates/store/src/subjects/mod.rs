//! The subjects of the store, one file each.

pub(crate) mod archive;
pub(crate) mod barriers;
pub(crate) mod content;
mod erasing;
pub(crate) mod erasures;
pub(crate) mod events;
pub(crate) mod graph;
pub(crate) mod inbox;
pub(crate) mod index;
pub(crate) mod lists;
pub(crate) mod loading;
pub(crate) mod names;
pub(crate) mod notices;
mod paths;
pub(crate) mod reactions;
pub(crate) mod records;
pub(crate) mod replica;
pub(crate) mod topics;
pub(crate) mod unpushed;
pub(crate) mod upkeep;
pub(crate) mod user_lists;
pub(crate) mod users;
