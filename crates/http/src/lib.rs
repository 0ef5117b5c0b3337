//! The HTTP layer: the API of `/v1` over [`Feed`](feed::Feed).
//!
//! A handler parses its request strictly, calls the feed, and writes JSON. A read first tries memory, on the thread
//! that took the request, which must not block. If it needs the disk, it goes to a bounded pool. One place, `problem`,
//! turns every error into a problem document.

mod admin;
mod api;
mod call;
mod calls;
mod changes;
mod connections;
mod endpoint;
mod figures;
mod forward;
mod guards;
mod limits;
mod nodes;
mod openapi;
mod pages;
mod pools;
mod prelude;
mod route_info;
mod routes;
mod standby;
mod streams;
mod wire;

use std::sync::{Arc, LazyLock};

use actix_web::web::ServiceConfig;

pub use crate::changes::webhooks::Webhooks;
pub use crate::connections::incoming::{Incoming, LINGER};
pub use crate::figures::reading::Reading;
pub use crate::figures::reloads::{Reload, Reloads};
pub use crate::guards::auth::Authenticator;
pub use crate::streams::dispatch::Dispatcher;
pub use admin::{comparison_body, keep_history};
pub use api::Api;
pub use limits::{Limits, accepted};
pub use standby::{Promotion, StandbyApi, StandbyState, StandbyStatus, configure as configure_standby};

use endpoint::Endpoint;
use model::error::Result;

/// Every endpoint.
static ENDPOINTS: LazyLock<Vec<Endpoint>> = LazyLock::new(|| {
    let groups = [
        calls::endpoints(),
        streams::endpoints(),
        changes::endpoints(),
        admin::endpoints(),
        pages::endpoints(description),
    ];
    groups.into_iter().flatten().collect()
});

/// The OpenAPI document of the server at this address, as indented JSON. A relative address is one from the address of
/// the document.
pub fn description(server: &str) -> Result<String> {
    openapi::json(&ENDPOINTS, server)
}

/// Adds all routes to an application.
pub fn configure(api: &Arc<Api>, config: &mut ServiceConfig) {
    routes::configure(&ENDPOINTS, api, config);
}
