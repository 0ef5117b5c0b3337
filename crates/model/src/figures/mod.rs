//! Figures that several parts count.

pub(crate) mod count;
pub(crate) mod histogram;
pub mod metrics;
pub(crate) mod usage;

pub use self::{count::*, histogram::*, usage::*};
