//! The calls of operators.

mod backups;
mod cluster;
mod digests;
mod metrics;
mod server;

use crate::endpoint::Endpoint;

/// The endpoints of all files, in the order in which paths are tried.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    [server::endpoints(), backups::endpoints(), cluster::endpoints(), digests::endpoints(), metrics::endpoints()]
        .into_iter()
        .flatten()
        .collect()
}
