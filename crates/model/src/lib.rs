//! The words of the domain as plain types: ids, cursors, content, relations, events, jobs.
//!
//! Nothing here reads a disk or a socket, and nothing here uses another layer.

pub mod cache;
pub mod clock;
mod effect;
pub mod error;
pub mod failpoint;
mod figures;
mod ids;
mod items;
mod job;
mod mentions;
pub mod priority;
pub mod private_files;
pub mod schemas;
pub mod stripes;
pub mod sync;
pub mod threads;
mod users;
pub mod versions;
mod words;

pub use self::{effect::*, figures::*, ids::*, items::*, job::*, mentions::*, users::*};
