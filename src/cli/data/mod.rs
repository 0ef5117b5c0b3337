//! Commands on a data directory.

pub(crate) mod check;
pub(crate) mod compact;
pub(crate) mod drain;
mod erased;
pub(crate) mod export;
mod files;
pub(crate) mod import;
pub(in crate::cli) mod lines;
pub(crate) mod restore;
pub(crate) mod retime;
pub(crate) mod stats;
pub(crate) mod stopped_server;
