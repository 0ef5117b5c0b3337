//! The HTTP layer: the API of `/v1` over [`Feed`](feed::Feed).
//!
//! A handler parses its request strictly, calls the feed, and writes JSON. A read first tries memory, on the thread
//! that took the request, which must not block. If it needs the disk, it goes to a bounded pool. One place, `problem`,
//! turns every error into a problem document.

mod admin;
mod api;
mod call;
mod calls;
mod connections;
mod endpoint;
mod guards;
mod kind;
mod nodes;
mod openapi;
mod pages;
mod pools;
mod requests;
mod routes;
mod slow_log;
mod streams;
mod wire;

use std::sync::{Arc, LazyLock};

use actix_web::web::ServiceConfig;

pub use crate::connections::attend::{Answer, attend};
pub use crate::connections::incoming::{Incoming, LINGER, Transport};
pub use crate::connections::watch::{accepted, greet};
pub use crate::guards::auth::Authenticator;
pub use crate::streams::dispatch::Dispatcher;
pub use api::Api;
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
        crate::calls::timelines::endpoints(),
        crate::calls::content::endpoints(),
        crate::calls::reactions::endpoints(),
        crate::calls::users::endpoints(),
        crate::calls::comments::endpoints(),
        crate::calls::markers::endpoints(),
        crate::calls::relations::endpoints(),
        crate::calls::barriers::endpoints(),
        crate::calls::presence::endpoints(),
        crate::streams::stream::endpoints(),
        crate::admin::server::endpoints(),
        crate::admin::backups::endpoints(),
        crate::admin::cluster::endpoints(),
        crate::admin::digests::endpoints(),
        crate::admin::metrics::endpoints(),
        crate::pages::docs::endpoints(),
        crate::pages::console::endpoints(),
    ];
    files.into_iter().flatten().collect()
});

/// Adds all routes to an application.
pub fn configure(api: &Arc<Api>, config: &mut ServiceConfig) {
    routes::configure(api, config);
}
