//! What decides whether a request is let in: credentials, origins, limits.

pub(crate) mod access;
pub(crate) mod address;
pub(crate) mod auth;
pub(crate) mod cors;
pub(crate) mod limits;
pub(crate) mod line_rate;
pub(crate) mod rate_limits;
