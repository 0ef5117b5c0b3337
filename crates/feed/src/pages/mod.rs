//! Pages of lists of items and of users.

pub(crate) mod by_time;
pub(crate) mod items;
pub(crate) mod segment;

pub(crate) use self::{by_time::*, items::*};
