//! TLS of calls to a running server: which certificates are trusted, and connections with them.

use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    StreamOwned,
};
use rustls_native_certs::load_native_certs;
use ureq::tls::TlsConfig;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport, TransportAdapter,
};

use model::error::{Error, Result};

/// TLS that trusts any certificate, for calls that send nothing secret and whose answer is none.
pub(crate) fn unchecked() -> TlsConfig {
    TlsConfig::builder()
        .disable_verification(true)
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .build()
}

/// TLS for calls to an address. Trusts the certificates in a file (PEM) and those that they vouch for; without a file, those
/// that an authority of the system vouches for. Fails if the address needs certificates to trust and there are none.
pub(crate) fn settings(address: &str, ca_file: Option<&Path>) -> Result<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(|e| Error::Setup(format!("cannot use TLS: {e}")))?;
    let mut roots = RootCertStore::empty();
    let config = match ca_file {
        // Plain HTTP asks for none.
        _ if !address.starts_with("https://") => builder.with_root_certificates(roots),
        None => {
            roots.add_parsable_certificates(load_native_certs().certs);
            if roots.is_empty() {
                let advice = "this system has no certificates of authorities; name a file with --ca-file";
                return Err(Error::Setup(advice.to_owned()));
            }
            builder.with_root_certificates(roots)
        }
        Some(file) => {
            let named = in_file(file)?;
            roots.add_parsable_certificates(named.iter().cloned());
            let chains = WebPkiServerVerifier::builder_with_provider(roots.into(), provider).build();
            let chains = chains.map_err(|e| Error::Setup(format!("--ca-file: {}: {e}", file.display())))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Named { named, chains }))
        }
    };
    Ok(config.with_no_client_auth())
}

/// Makes the connections of an agent TLS if the address asks for it.
#[derive(Debug)]
pub(crate) struct Tls(pub(crate) Arc<ClientConfig>);

/// Most bytes of a file of certificates.
const MOST_BYTES: u64 = 16 << 20;

fn in_file(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let failed = |why: &str| Error::Setup(format!("--ca-file: cannot use {}: {why}", file.display()));
    let mut text = Vec::new();
    let read = File::open(file).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
    read.map_err(|e| failed(&e.to_string()))?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|e| failed(&e.to_string()))?;
    if found.is_empty() { Err(failed("it has no certificate in the form PEM")) } else { Ok(found) }
}

/// Trusts named certificates, and those that they vouch for. A chain alone would not do: it must end in an authority
/// and begin with a certificate that is none, but a server may use a named one that is an authority or has another.
#[derive(Debug)]
struct Named {
    named: Vec<CertificateDer<'static>>,
    chains: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // Both are found after the dates are checked and before the name is.
            Err(rustls::Error::InvalidCertificate(error))
                if lacks_only_a_chain(&error) && self.named.contains(end_entity) =>
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
        self.chains.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.chains.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
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

impl<In: Transport> Connector<In> for Tls {
    type Out = Either<In, Encrypted>;

    fn connect(&self, details: &ConnectionDetails<'_>, below: Option<In>) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(below) = below else { return Ok(None) };
        if !details.needs_tls() || below.is_tls() {
            return Ok(Some(Either::A(below)));
        }
        // An address of IPv6 has brackets.
        let host = details.uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host).map_err(|_| ureq::Error::Tls("the address has no name of a server"))?;
        let mut conn = ClientConnection::new(Arc::clone(&self.0), name)?;
        let mut sock = TransportAdapter::new(below.boxed(), Arc::clone(&details.current_time));
        sock.set_timeout(details.timeout);
        conn.complete_io(&mut sock)?;
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(Encrypted { buffers, stream: StreamOwned::new(conn, sock) })))
    }
}

/// A connection in TLS, after its handshake.
pub(crate) struct Encrypted {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Transport for Encrypted {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.sock.set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.sock.set_timeout(timeout);
        let count = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(count);
        Ok(count > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.sock.get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").finish_non_exhaustive()
    }
}
