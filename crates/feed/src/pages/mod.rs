//! Pages of lists of items and of users.

pub(crate) mod items;
pub(crate) mod segment;
pub(crate) mod users;

pub(crate) use items::{list, of_user, seen_segment};
pub(crate) use users::{left_users, seen_users, time_that_has_come, users};
