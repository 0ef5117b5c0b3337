//! Figures that several parts count.

pub(crate) mod count;
pub(crate) mod histogram;
pub(crate) mod usage;
