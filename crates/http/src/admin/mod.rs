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

crate::endpoint::endpoints_of! { server timelines access alerts backups cluster digests history standbys metrics }
