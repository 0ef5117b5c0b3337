//! Calls of commands to a running server: addresses, and words for what goes wrong.

use super::plain;
use crate::error::{Error, Result};

/// The address of a server, without a slash at its end.
pub(super) fn address(url: &str) -> Result<String> {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if host.is_none_or(str::is_empty) {
        return Err(Error::Setup(format!("--url: expected http:// or https:// and a host, not {url:?}")));
    }
    Ok(url.trim_end_matches('/').to_owned())
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
