//! Users and what they are to each other.

pub(crate) mod barrier;
pub(crate) mod list;
pub(crate) mod members;
pub(crate) mod profile;
pub(crate) mod relation;
pub(crate) mod side;
pub(crate) mod user;
