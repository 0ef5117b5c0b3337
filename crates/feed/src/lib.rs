//! The rules of the service: changes and reads, a module for each subject.
//!
//! The HTTP layer and the program's commands use a [`Feed`]. It blocks as long as the store does. Changes are values that
//! [`Feed::submit`] makes. Reads are functions of their subjects that take a [`Read`]: a caller that must not block can ask for an
//! answer from memory first.

pub mod backup;
mod caches;
mod capacity;
pub mod check;
mod core;
mod deadline;
pub mod erasure;
pub mod events;
mod feed;
pub mod follows;
pub mod ids;
mod imports;
pub mod inbox;
pub mod items;
mod kept_rows;
pub mod kinds;
pub mod lists;
mod memory;
pub mod notices;
mod options;
mod pages;
pub mod reactions;
mod read;
pub mod reader;
pub mod restrictions;
mod rows;
pub mod standbys;
pub mod store;
pub mod streaming;
pub mod timeline;
pub mod topics;
pub mod users;
pub mod visibility;
mod waiting;
mod warm;
mod writer;

pub use crate::core::{Core, Shared};
pub use crate::erasure::eraser::Eraser;
pub use crate::feed::{Feed, Propose};
pub use crate::inbox::{backlog, worker};
pub use crate::pages::segment::MOST_UNREAD;
pub use crate::read::{Count, Read, Visibility};
pub use crate::streaming::histories::begin_history;
pub use crate::writer::command::*;
pub use crate::writer::group::Group;
pub use crate::writer::txn::Txn;
pub use deadline::{answer_due, answered_at};
