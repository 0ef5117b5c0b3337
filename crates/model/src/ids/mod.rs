//! Ids, and places in lists.

pub(crate) mod cursor;
pub(crate) mod external_id;
pub(crate) mod id;
pub(crate) mod page;

pub use self::{cursor::*, external_id::*, id::*, page::*};
