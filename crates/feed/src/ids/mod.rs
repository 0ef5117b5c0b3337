//! Ids of the application, to ids in the store and back.
//!
//! A read finds the number of a name; it never gives one. A change gives numbers to the names that it needs; they are written with
//! the change. So a name that no change has mentioned leaves no trace, and neither does a refused change.

pub(crate) mod resolve;
pub mod tables;

pub use self::resolve::*;
