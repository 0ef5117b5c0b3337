//! Pages of lists of items and of users.

pub(crate) mod by_time;
pub(crate) mod items;
pub(crate) mod segment;

pub(crate) use by_time::{by_time, left_users, seen_ids, time_that_has_come};
pub(crate) use items::{list, of_user, seen_segment};
