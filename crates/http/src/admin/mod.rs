//! The calls of operators.

mod access;
mod backups;
mod cluster;
mod digests;
mod history;
mod metrics;
mod server;
mod standbys;

use crate::endpoint::Endpoint;

/// The endpoints of all files, in the order in which paths are tried.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let files = [server::endpoints(), access::endpoints(), backups::endpoints(), cluster::endpoints()];
    files
        .into_iter()
        .chain([digests::endpoints(), history::endpoints(), standbys::endpoints(), metrics::endpoints()])
        .flatten()
        .collect()
}
