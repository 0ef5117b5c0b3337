//! Calls of commands to a running server: addresses, keys, agents, and words for what goes wrong.

use std::fs;
use std::path::Path;

use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};
use ureq::{Agent, RequestBuilder};

use super::tls::{Tls, Trust};
use crate::cli::plain;
use model::error::{Error, Result};

/// Environment variable with the key of the server.
const KEY: &str = "TIDELINE_KEY";

/// The key for a server: the first one in a file, or without a file that of the environment.
pub(crate) fn key(file: Option<&Path>) -> Result<Option<String>> {
    match file {
        Some(file) => key_in(file).map(Some),
        None => Ok(std::env::var(KEY).ok().map(|key| key.trim().to_owned())),
    }
}

/// The first key in a file, which may be the file of keys of the server.
fn key_in(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file).map_err(|e| Error::Setup(format!("cannot read {}: {e}", file.display())))?;
    let entries = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    entries.map(str::to_owned).find(|entry| !entry.starts_with("sha256:")).ok_or_else(|| {
        Error::Setup(format!("{} has no key, which is the first line of \"tideline key new\"", file.display()))
    })
}

/// The address of a server in an option, without a slash at its end.
pub(crate) fn address(option: &str, url: &str) -> Result<String> {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if host.is_none_or(str::is_empty) {
        return Err(Error::Setup(format!("{option}: expected http:// or https:// and a host, not {url:?}")));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// The settings of every agent: a bad status is an answer, too, and a key does not follow redirects.
pub(crate) fn settings() -> ConfigBuilder<AgentScope> {
    Agent::config_builder().http_status_as_error(false).max_redirects(0)
}

/// An agent for calls to an address, which sends a key only to a server with a trusted certificate, or without TLS. Fails
/// if it needs certificates to trust and there are none.
pub(crate) fn agent(address: &str, trust: Trust<'_>, settings: ConfigBuilder<AgentScope>) -> Result<Agent> {
    let tls = Tls::new(address, trust)?;
    let connector = ().chain(ConnectProxyConnector::default()).chain(TcpConnector::default()).chain(tls);
    Ok(Agent::with_parts(settings.build(), connector, DefaultResolver::default()))
}

/// The request with the key, if there is one.
pub(crate) fn with_key<B>(request: RequestBuilder<B>, key: Option<&str>) -> RequestBuilder<B> {
    match key {
        Some(key) => request.header("Authorization", format!("Bearer {key}")),
        None => request,
    }
}

/// Why a server gave no answer, and advice if the address may have the wrong scheme.
pub(crate) fn unreached(address: &str, error: &ureq::Error) -> String {
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
        assert_eq!(address("--url", "http://a:1/").expect("good"), "http://a:1");
        assert_eq!(address("--url", "https://a").expect("good"), "https://a");
        for bad in ["", "a:1", "ftp://a", "http://", "https://"] {
            assert!(address("--url", bad).is_err(), "{bad}");
        }
    }
}
