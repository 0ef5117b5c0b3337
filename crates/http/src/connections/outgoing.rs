//! Connections of this server to others.

use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Builder, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use rustls_native_certs::load_native_certs;

use model::error::{Error, Result};

/// A client that finds the addresses of names by `R`.
pub(crate) type HttpClient<R> = Client<HttpsConnector<HttpConnector<R>>, Full<Bytes>>;

/// A connector with or without TLS, which trusts the authorities of the system, or nobody.
pub(crate) fn connector<R>(
    mut sockets: HttpConnector<R>,
    trusts_system: bool,
) -> Result<HttpsConnector<HttpConnector<R>>> {
    let failed = |e: rustls::Error| Error::Setup(format!("cannot use TLS: {e}"));
    let mut roots = RootCertStore::empty();
    if trusts_system {
        roots.add_parsable_certificates(load_native_certs().certs);
    }
    let provider = aws_lc_rs::default_provider();
    let tls = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    let tls = tls.map_err(failed)?.with_root_certificates(roots).with_no_client_auth();
    sockets.enforce_http(false);
    sockets.set_nodelay(true);
    Ok(HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(sockets))
}

/// The pool of a client: how many connections to one host it keeps without a request, and for how long.
pub(crate) fn pool(idle_at_once: usize, idle: Duration) -> Builder {
    let mut client = Client::builder(TokioExecutor::new());
    client.pool_timer(TokioTimer::new()).pool_idle_timeout(idle).pool_max_idle_per_host(idle_at_once);
    client
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
