//! The HTTP server of a standby, until it is stopped or promoted.

use actix_web::rt;
use actix_web::web::ServiceConfig;

use super::{StopSignals, listener};
use crate::prelude::*;
use http::{Reloads, StandbyApi};

/// The time for answers on their way.
const FOR_ANSWERS: Duration = Duration::from_millis(50);

/// Serves until told to stop, which returns `None`, or until `promoted`. Prints one line to stdout: where it listens.
pub(crate) async fn serve<T>(
    config: &Config,
    api: &Arc<StandbyApi>,
    reloads: &Arc<Reloads>,
    stop: &mut StopSignals,
    promoted: impl Future<Output = T>,
) -> Result<Option<T>> {
    let served = Arc::clone(api);
    let routes = move |config: &mut ServiceConfig| http::configure_standby(&served, config);
    let (server, _) = listener::listen(config, api.limits(), routes, config.server.max_connections, reloads)?;
    let handle = server.handle();
    let running = rt::spawn(server);
    let promoted = tokio::select! {
        promoted = promoted => Some(promoted),
        () = stop.told() => None,
    };
    // The answer to a promotion is sent. An orderly stop looks once a second for connections that are still open, and a
    // standby that takes over should not wait for that.
    rt::time::sleep(FOR_ANSWERS).await;
    handle.stop(false).await;
    let _ = rt::time::timeout(config.server.shutdown_timeout.get(), running).await;
    Ok(promoted)
}
