//! Other nodes of a cluster.

pub(crate) mod consistency;
mod peer;
pub(crate) mod peers;
