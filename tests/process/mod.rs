//! The real server as a process that ends in various ways, and the plain model of its answers after each.

pub(crate) mod history;
pub(crate) mod home;
pub(crate) mod model;
