//! Items: publishes, edits, deletes, and lists of them.

pub(crate) mod changes;
pub(crate) mod new_content;
pub(crate) mod publish;
pub(crate) mod reads;
pub mod tables;

pub(crate) use self::new_content::*;
pub use self::{publish::*, reads::*};
