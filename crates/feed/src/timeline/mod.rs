//! Timelines: their pages, what they consist of, and checks of them.

pub(crate) mod activity;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod home;
pub(crate) mod markers;
pub(crate) mod sources;
pub mod tables;
pub(crate) mod unread;
pub(crate) mod verify;

pub use self::{activity::*, explain::*, export::*, home::*, markers::*, sources::*, unread::*, verify::*};
