//! TLS: the certificate and its key, read again when their files have changed.

use std::os::unix::fs::MetadataExt;
use std::sync::Weak;

use parking_lot::RwLock;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, ServerConfig};
use tokio_rustls::TlsAcceptor;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use crate::prelude::*;
use config::{Server, small_file};
use http::Reloads;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The acceptor of TLS connections, if a certificate is set; `reloads` gets the end of the certificate. Fails if a file cannot be
/// read, or the key is of another certificate.
pub(super) fn configure(server: &Server, reloads: &Arc<Reloads>) -> Result<Option<TlsAcceptor>> {
    if server.scheme() == "http" {
        return Ok(None);
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let files = Files { cert: server.tls_cert.clone(), key: server.tls_key.clone() };
    let seen = files.state();
    let pair = files.read(&provider)?;
    reloads.uses_certificate_until(end(&pair));
    let certificate = Arc::new(Certificate(RwLock::new(pair)));
    let mut settings = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .context("TLS")?
        .with_no_client_auth()
        .with_cert_resolver(Arc::clone(&certificate) as Arc<dyn ResolvesServerCert>);
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    let (certificate, reloads) = (Arc::downgrade(&certificate), Arc::clone(reloads));
    threads::start("certificate", move || follow(&files, seen, &certificate, &provider, &reloads))?;
    Ok(Some(Arc::new(settings).into()))
}

/// The certificate in use, with its key.
#[derive(Debug)]
struct Certificate(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0.read()))
    }
}

/// Takes over changed files until nobody uses the certificate any more. A pair that cannot be used is not taken: the
/// second file may not be there yet.
fn follow(
    files: &Files,
    mut seen: State,
    certificate: &Weak<Certificate>,
    provider: &CryptoProvider,
    reloads: &Reloads,
) {
    loop {
        std::thread::sleep(LOOK_EVERY);
        let Some(certificate) = certificate.upgrade() else { return };
        let state = files.state();
        if state == seen {
            continue;
        }
        seen = state;
        match files.read(provider) {
            Ok(pair) => {
                reloads.uses_certificate_until(end(&pair));
                *certificate.0.write() = pair;
                tracing::info!(cert = %files.cert.display(), "the changed certificate is in use");
            }
            Err(error) => {
                reloads.certificate.ended(false);
                tracing::warn!(%error, "the changed certificate cannot be used; the one before stays in use");
            }
        }
    }
}

/// The files of the settings.
struct Files {
    cert: PathBuf,
    key: PathBuf,
}

/// The state of both files, to notice changes: the file, its size, its time. The files may be symbolic links.
type State = [Option<(u64, u64, i64, i64)>; 2];

impl Files {
    fn state(&self) -> State {
        [&self.cert, &self.key].map(|path| {
            let about = fs::metadata(path).ok()?;
            Some((about.ino(), about.len(), about.mtime(), about.mtime_nsec()))
        })
    }

    /// Reads both files. Warns if others than the owner and its group may read the key.
    fn read(&self, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>> {
        let chain = read("server.tls_cert", &self.cert, ["certificate", ""], |text| {
            let chain = CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>()?;
            if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) }
        })?;
        let key = ["private key", " (PEM, without a password)"];
        let private = read("server.tls_key", &self.key, key, PrivateKeyDer::from_pem_slice)?;
        let pair = CertifiedKey::from_der(chain, private, provider).map_err(|e| match e {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                let (cert, key) = (self.cert.display(), self.key.display());
                Error::Setup(format!("server.tls_key: the key in {key} does not belong to the certificate in {cert}"))
            }
            e => Error::Setup(format!("server.tls_cert and server.tls_key cannot be used: {e}")),
        })?;
        if fs::metadata(&self.key).is_ok_and(|about| about.mode() & 0o007 != 0) {
            tracing::warn!(key = %self.key.display(), "every user of this machine may read the private key; chmod o= it");
        }
        Ok(Arc::new(pair))
    }
}

/// When a certificate ends, seconds since 1970; 0 if it does not say.
fn end(pair: &CertifiedKey) -> u64 {
    let first = pair.cert.first().and_then(|cert| X509Certificate::from_der(cert).ok());
    first.and_then(|(_, cert)| u64::try_from(cert.validity().not_after.timestamp()).ok()).unwrap_or_default()
}

/// The content of a file that a setting names: what it is, and advice if it is not there.
fn read<T>(
    setting: &str,
    path: &Path,
    [what, advice]: [&str; 2],
    parse: fn(&[u8]) -> Result<T, pem::Error>,
) -> Result<T> {
    let file = path.display();
    let text = small_file(path).context(format_args!("{setting}: cannot read {file}"))?;
    parse(&text).map_err(|error| match error {
        pem::Error::NoItemsFound => Error::Setup(format!("{setting}: no {what} in {file}{advice}")),
        error => Error::Setup(format!("{setting}: {file} is not PEM: {error}")),
    })
}
