//! Items and users as a viewer sees them.

pub(crate) mod contents;
pub(crate) mod live;
pub(crate) mod viewer;

pub(crate) use self::live::*;
pub use self::{contents::*, viewer::*};
