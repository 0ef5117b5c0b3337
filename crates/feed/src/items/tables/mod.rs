//! The rows of items, and all that follows from them.

pub(crate) mod content;
pub(crate) mod counts;
pub(crate) mod index;
pub(crate) mod outboxes;
pub(crate) mod paths;
pub(crate) mod results;
pub(crate) mod rows;

pub(crate) use self::index::*;
pub use self::{content::*, counts::*, outboxes::*, paths::*, results::*, rows::*};
