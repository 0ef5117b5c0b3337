//! The HTTP layer: the API of `/v1` over [`Feed`](crate::feed::Feed).
//!
//! A handler parses its request strictly, calls the feed, and writes JSON. A read first tries memory, on the thread
//! that took the request, which must not block. If it needs the disk, it goes to a bounded pool. One place, `problem`,
//! turns every error into a problem document.

mod access;
mod admin;
mod answer_memory;
mod api;
mod barriers;
mod body;
mod call;
mod comments;
mod connections;
mod content;
mod disk_figures;
mod dispatch;
mod docs;
mod endpoint;
mod events;
mod limits;
mod markers;
mod metrics;
mod openapi;
mod pools;
mod presence;
mod problem;
mod query;
mod reactions;
mod relations;
mod reply;
mod requests;
mod routes;
mod show;
mod stream;
mod timelines;
mod users;

use std::sync::Arc;

use actix_web::web::ServiceConfig;

pub use api::Api;
pub use connections::{accepted, greet};
pub use dispatch::Dispatcher;
pub use openapi::json as description;

/// Adds all routes to an application.
pub fn configure(api: &Arc<Api>, config: &mut ServiceConfig) {
    routes::configure(api, config);
}
