//! The calls of operators.

mod access;
mod alerts;
mod backups;
mod cluster;
mod digests;
mod history;
mod metrics;
mod server;
mod standbys;
mod timelines;

pub use digests::comparison_body;
pub use history::keep_history;

use crate::endpoint::Endpoint;

/// The endpoints of all files.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let files = [
        server::endpoints(),
        timelines::endpoints(),
        access::endpoints(),
        alerts::endpoints(),
        backups::endpoints(),
        cluster::endpoints(),
        digests::endpoints(),
        history::endpoints(),
        standbys::endpoints(),
        metrics::endpoints(),
    ];
    files.into_iter().flatten().collect()
}
