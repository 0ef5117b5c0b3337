//! Access to rows: by their keys, and by walks, with the changes of a group on top.

pub(crate) mod greatest_keys;
pub(crate) mod reads;
pub(crate) mod staged;
pub(crate) mod staged_group;
