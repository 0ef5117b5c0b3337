//! The checks that let a request in or refuse it: credentials, origins, requests a second.

pub(crate) mod address;
pub(crate) mod auth;
mod cors;
pub(crate) mod line_rate;
pub(crate) mod rate_limits;
pub(crate) mod web_pages;
