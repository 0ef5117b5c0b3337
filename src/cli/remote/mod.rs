//! Commands on a running server.

pub(crate) mod backup;
pub(crate) mod calls;
pub(crate) mod cluster;
pub(crate) mod compare;
pub(crate) mod health;
pub(crate) mod tls;
