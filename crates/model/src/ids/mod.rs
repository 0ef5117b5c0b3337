//! Ids, and places in lists.

pub(crate) mod host_id;
pub(crate) mod id;
pub(crate) mod page;
pub(crate) mod position;
