//! Connections of this server to others.

use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use rustls_native_certs::load_native_certs;

use model::error::{Error, Result};

/// The settings of TLS for a client that trusts the authorities of the system, or nobody.
pub(crate) fn tls(trusts_system: bool) -> Result<ClientConfig> {
    let failed = |e: rustls::Error| Error::Setup(format!("cannot use TLS: {e}"));
    let mut roots = RootCertStore::empty();
    if trusts_system {
        roots.add_parsable_certificates(load_native_certs().certs);
    }
    let provider = aws_lc_rs::default_provider();
    let tls = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    Ok(tls.map_err(failed)?.with_root_certificates(roots).with_no_client_auth())
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
