//! Access to rows: by their keys, and by walks, with the changes of a group on top.

pub(crate) mod at;
pub(crate) mod group;
pub(crate) mod highest;
pub(crate) mod staged;
