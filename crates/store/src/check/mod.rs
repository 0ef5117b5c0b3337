//! Comparisons of tables: with each other, and with those of other nodes.

pub(crate) mod audit;
pub(crate) mod digests;
