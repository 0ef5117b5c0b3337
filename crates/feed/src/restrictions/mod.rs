//! Mutes, hides and blocks.

pub(crate) mod changes;
pub mod tables;
