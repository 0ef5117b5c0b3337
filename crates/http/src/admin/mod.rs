//! The calls of operators.

pub(crate) mod backups;
pub(crate) mod cluster;
pub(crate) mod digests;
pub(crate) mod disk_figures;
pub(crate) mod metrics;
pub(crate) mod sampler;
pub(crate) mod server;
