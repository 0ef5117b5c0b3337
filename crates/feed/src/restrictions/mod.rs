//! Restrictions.

pub(crate) mod changes;
pub mod tables;
