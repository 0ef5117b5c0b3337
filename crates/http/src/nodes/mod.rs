//! Other nodes of a cluster.

pub(crate) mod consistency;
pub(crate) mod forward;
pub(crate) mod peers;
