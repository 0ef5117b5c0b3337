//! The rows of erasures, and the rows that they remove.

pub(crate) mod carried_over;
pub(crate) mod erasures;
pub(crate) mod removal;
pub(crate) mod remove_rows;

pub use self::{carried_over::*, erasures::*, removal::*, remove_rows::*};
