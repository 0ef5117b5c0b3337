//! The calls of operators.

mod backups;
mod cluster;
mod digests;
mod metrics;
mod server;
mod standbys;

use crate::endpoint::Endpoint;

/// The endpoints of all files, in the order in which paths are tried.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let files = [server::endpoints(), backups::endpoints(), cluster::endpoints(), digests::endpoints()];
    files.into_iter().chain([standbys::endpoints(), metrics::endpoints()]).flatten().collect()
}
