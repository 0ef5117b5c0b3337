//! Calls of commands to a running server: addresses, trust in certificates, and words for what goes wrong.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls_native_certs::load_native_certs;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::plain;
use crate::error::{Error, Result};

/// The certificates with which a server may answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trust<'a> {
    /// Any: the answer is no secret, and nothing secret is sent.
    Any,
    /// Those that an authority of the system vouches for.
    System,
    /// The certificates in a file of PEM, and those that they vouch for.
    File(&'a Path),
}

/// The address of a server, without a slash at its end.
pub(super) fn address(url: &str) -> Result<String> {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if host.is_none_or(str::is_empty) {
        return Err(Error::Setup(format!("--url: expected http:// or https:// and a host, not {url:?}")));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// TLS for calls to an address. Fails if there are no certificates to trust.
pub(super) fn tls(address: &str, trust: Trust<'_>) -> Result<TlsConfig> {
    let roots = match trust {
        // Plain HTTP asks for none.
        _ if !address.starts_with("https://") => Vec::new(),
        Trust::Any => Vec::new(),
        Trust::System => system()?,
        Trust::File(file) => in_file(file)?,
    };
    Ok(TlsConfig::builder()
        .disable_verification(matches!(trust, Trust::Any))
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(Arc::new(aws_lc_rs::default_provider()))
        .build())
}

fn system() -> Result<Vec<Certificate<'static>>> {
    let found = load_native_certs();
    if found.certs.is_empty() {
        return Err(Error::Setup(
            "this system has no certificates of authorities; name a file with --ca-file".to_owned(),
        ));
    }
    Ok(found.certs.iter().map(|one| Certificate::from_der(one).to_owned()).collect())
}

fn in_file(file: &Path) -> Result<Vec<Certificate<'static>>> {
    let failed = |why: &str| Error::Setup(format!("--ca-file: cannot use {}: {why}", file.display()));
    let text = fs::read(file).map_err(|e| failed(&e.to_string()))?;
    let mut found = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(one) = item.map_err(|e| failed(&e.to_string()))? {
            found.push(one);
        }
    }
    if found.is_empty() { Err(failed("it has no certificate in the form PEM")) } else { Ok(found) }
}

/// Why a server gave no answer, and advice if the address may have the wrong scheme.
pub(super) fn unreached(address: &str, error: &ureq::Error) -> String {
    let is_talk = match error {
        ureq::Error::Io(error) => {
            use std::io::ErrorKind::{ConnectionReset, InvalidData, UnexpectedEof};
            [ConnectionReset, InvalidData, UnexpectedEof].contains(&error.kind())
        }
        ureq::Error::Protocol(_) | ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        _ => false,
    };
    let said = error.to_string();
    let advice = match address.starts_with("https://") {
        _ if !is_talk => "",
        true if said.contains("UnknownIssuer") || said.contains("CaUsedAsEndEntity") => {
            ". Name the certificate of the server, or of its authority, with --ca-file"
        }
        true if said.contains("certificate") => "",
        true => ". If the server speaks no TLS, write http:// in its address",
        false => ". If the server speaks TLS, write https:// in its address",
    };
    format!("{}{advice}", plain(&said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host() {
        assert_eq!(address("http://a:1/").expect("good"), "http://a:1");
        assert_eq!(address("https://a").expect("good"), "https://a");
        for bad in ["", "a:1", "ftp://a", "http://", "https://"] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
