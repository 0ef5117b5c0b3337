//! The HTTP layer: the API of `/v1` over [`Feed`](crate::feed::Feed).
//!
//! A handler parses its request strictly, calls the feed, and writes JSON. A read first tries memory, on the thread
//! that took the request, which must not block. If it needs the disk, it goes to a bounded pool. One place, `problem`,
//! turns every error into a problem document.

mod access;
mod address;
mod admin;
mod answer_memory;
mod api;
mod attend;
mod auth;
mod backups;
mod barriers;
mod body;
mod call;
mod cluster;
mod comments;
mod connections;
mod consistency;
mod console;
mod content;
mod cors;
mod digests;
mod disk_figures;
mod dispatch;
mod docs;
mod endpoint;
mod events;
mod forward;
mod incoming;
mod limits;
mod line_rate;
mod markers;
mod metrics;
mod openapi;
mod peers;
mod pools;
mod presence;
mod problem;
mod query;
mod rate_limits;
mod reactions;
mod relations;
mod reply;
mod request_id;
mod requests;
mod routes;
mod sampler;
mod show;
mod slow_log;
mod stream;
mod timelines;
mod users;
mod web_files;

use std::sync::{Arc, LazyLock};

use actix_web::web::ServiceConfig;

pub use api::Api;
pub use attend::{Answer, attend};
pub use auth::Gate;
pub use connections::{Transport, accepted, greet};
pub use dispatch::Dispatcher;
pub use incoming::{Incoming, LINGER};
pub use openapi::json as description;

use endpoint::Endpoint;

/// The groups of calls, in the order of the OpenAPI document.
const GROUPS: [(&str, &str); 7] = [
    ("content", "Publish, read, edit, delete and restore items; comments on items"),
    ("timelines", "Home timelines with their markers, own pages of users, lists of topics"),
    ("users", "Profiles and counts of users"),
    ("relations", "Follows, friends, mutes and hides"),
    ("reactions", "Likes and favorites"),
    ("streams", "Presence of users, and streams of the changes of timelines"),
    ("operations", "Health, figures, checks and documentation, for operators"),
];

/// Every endpoint. Paths are tried in this order: the busiest first, and `batch` before an id.
static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    let files = [
        timelines::endpoints(),
        content::endpoints(),
        reactions::endpoints(),
        users::endpoints(),
        comments::endpoints(),
        markers::endpoints(),
        relations::endpoints(),
        barriers::endpoints(),
        presence::endpoints(),
        stream::endpoints(),
        admin::endpoints(),
        backups::endpoints(),
        cluster::endpoints(),
        digests::endpoints(),
        metrics::endpoints(),
        docs::endpoints(),
        console::endpoints(),
    ];
    files.into_iter().flatten().collect()
});

/// Adds all routes to an application.
pub fn configure(api: &Arc<Api>, config: &mut ServiceConfig) {
    routes::configure(api, config);
}
