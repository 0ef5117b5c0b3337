//! TLS of calls to a running server: which certificates are trusted.

use std::fs::File;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme, WantsVerifier,
};
use rustls_native_certs::load_native_certs;

use crate::prelude::*;

/// TLS that trusts any certificate. Only for calls with no secret in the request and none in the answer.
pub(super) fn unchecked() -> Result<ClientConfig> {
    let (provider, builder) = builder()?;
    Ok(trusting(builder, Verifier { trusts: None, provider }))
}

/// TLS for calls to an address. Trusts the certificates in a file (PEM) and those that they vouch for; without a file, those
/// that an authority of the system vouches for. Fails if the address needs certificates to trust and there are none.
pub(super) fn settings(address: &str, ca_file: Option<&Path>) -> Result<ClientConfig> {
    let (provider, builder) = builder()?;
    let mut roots = RootCertStore::empty();
    match ca_file {
        // Plain HTTP asks for none.
        _ if !address.starts_with("https://") => {}
        None => {
            roots.add_parsable_certificates(load_native_certs().certs);
            if roots.is_empty() {
                let advice = "this system has no certificates of authorities; name a file with --ca-file";
                return Err(Error::Setup(advice.to_owned()));
            }
        }
        Some(file) => {
            let named = in_file(file)?;
            roots.add_parsable_certificates(named.iter().cloned());
            let chains = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&provider)).build();
            let chains = chains.context(format_args!("--ca-file: {}", file.display()))?;
            return Ok(trusting(builder, Verifier { trusts: Some((named, chains)), provider }));
        }
    }
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

type Builder = ConfigBuilder<ClientConfig, WantsVerifier>;

fn builder() -> Result<(Arc<CryptoProvider>, Builder)> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    Ok((provider, builder.context("cannot use TLS")?))
}

fn trusting(builder: Builder, verifier: Verifier) -> ClientConfig {
    builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth()
}

/// Most bytes of a file of certificates.
const MOST_BYTES: u64 = 16 << 20;

fn in_file(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let unusable = format_args!("--ca-file: cannot use {}", file.display());
    let mut text = Vec::new();
    File::open(file).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text)).context(unusable)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>().context(unusable)?;
    let found = if found.is_empty() { Err("it has no certificate in the form PEM") } else { Ok(found) };
    found.context(unusable)
}

#[derive(Debug)]
struct Verifier {
    /// The certificates that are trusted, and those that they vouch for; `None` for any. A chain alone would not do: it must
    /// end in an authority and begin with a certificate that is none, but a server may use a named one that is an authority
    /// or has another.
    trusts: Option<(Vec<CertificateDer<'static>>, Arc<WebPkiServerVerifier>)>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some((named, chains)) = &self.trusts else { return Ok(ServerCertVerified::assertion()) };
        match chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // Both are found after the dates are checked and before the name is.
            Err(rustls::Error::InvalidCertificate(error))
                if lacks_only_a_chain(&error) && named.contains(end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether a certificate is an authority itself, or none of the named ones vouches for it.
fn lacks_only_a_chain(error: &CertificateError) -> bool {
    match error {
        CertificateError::UnknownIssuer => true,
        // An error of webpki, which rustls has no name for.
        CertificateError::Other(other) => other.0.to_string() == "CaUsedAsEndEntity",
        _ => false,
    }
}
