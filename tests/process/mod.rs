//! The real server as a process that ends in various ways, and the plain model of its answers after each.
#![allow(dead_code, reason = "each test binary uses a part")]

pub(crate) mod history;
pub(crate) mod home;
pub(crate) mod model;
