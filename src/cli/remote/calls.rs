//! Calls of commands to a running server: its address, its key, and words for what goes wrong.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ureq::config::ConfigBuilder;
use ureq::http::{Response, StatusCode};
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};
use ureq::{Agent, Body, RequestBuilder};

use super::tls::{self, Tls, unchecked};
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
    // A name may stand behind a key.
    let entries =
        text.lines().filter_map(|line| line.split_whitespace().next()).filter(|entry| !entry.starts_with('#'));
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

/// A running server, as commands call it.
pub(crate) struct Server {
    pub(super) url: String,
    agent: Agent,
    key: Option<String>,
    /// Longest silence in the words for one.
    patience: Option<Duration>,
}

/// A problem document. Both texts are empty if an answer has none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Problem {
    pub(super) code: String,
    pub(super) detail: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.code, &*self.detail) {
            ("", "") => f.write_str("no Tideline answers there"),
            ("", detail) => f.write_str(&plain(detail)),
            (code, detail) => f.write_str(&plain(&format!("{code}: {detail}"))),
        }
    }
}

/// Why a call has no good answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// There is no answer.
    Unreached(String),
    /// The answer has another status than 2xx.
    Refused(StatusCode, Problem),
    /// The body is cut off, or is not what was expected.
    Unreadable(String),
}

impl Fault {
    /// The code of a refusal; empty for another fault.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Refused(_, problem) => &problem.code,
            Self::Unreached(_) | Self::Unreadable(_) => "",
        }
    }
}

impl Server {
    /// A server at an address, with its key, and a file of certificates to trust (PEM). The key is sent only to a server with
    /// a trusted certificate, or without TLS. Fails if the address needs certificates to trust and there are none.
    pub(crate) fn new(
        url: String,
        key: Option<String>,
        ca_file: Option<&Path>,
        settings: ConfigBuilder<AgentScope>,
    ) -> Result<Self> {
        let tls = Tls(Arc::new(tls::settings(&url, ca_file)?));
        let connector = ().chain(ConnectProxyConnector::default()).chain(TcpConnector::default()).chain(tls);
        let agent = Agent::with_parts(settings.build(), connector, DefaultResolver::default());
        Ok(Self { url, agent, key, patience: None })
    }

    /// A server that is called without a key, whatever certificate it has.
    pub(super) fn unchecked(url: String, settings: ConfigBuilder<AgentScope>) -> Self {
        Self { agent: settings.tls_config(unchecked()).build().into(), url, key: None, patience: None }
    }

    /// Gives up after a silence, which messages name.
    pub(super) fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// A good answer to a `GET`.
    pub(crate) fn get(&self, path: &str) -> Result<Response<Body>, Fault> {
        self.good(self.with_key(self.agent.get(format!("{}{path}", self.url))).call())
    }

    /// The JSON of a good answer to a `GET`.
    pub(crate) fn get_json<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.json(self.get(path)?)
    }

    /// A good answer to a `POST` with JSON.
    pub(crate) fn post_for(&self, path: &str, body: &impl Serialize) -> Result<Response<Body>, Fault> {
        self.good(self.with_key(self.agent.post(format!("{}{path}", self.url))).send_json(body))
    }

    /// The JSON of a good answer to a `POST` with JSON.
    pub(crate) fn post_json<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Fault> {
        self.json(self.post_for(path, body)?)
    }

    /// The JSON of a good answer to a `PUT` with JSON.
    pub(crate) fn put_json<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Fault> {
        self.json(self.good(self.with_key(self.agent.put(format!("{}{path}", self.url))).send_json(body))?)
    }

    /// A `PUT` with JSON whose good answer says nothing.
    pub(super) fn put(&self, path: &str, body: &Value) -> Result<(), Fault> {
        self.good(self.with_key(self.agent.put(format!("{}{path}", self.url))).send_json(body)).map(drop)
    }

    /// Sends a `DELETE`.
    pub(crate) fn delete(&self, path: &str) -> Result<(), Fault> {
        self.good(self.with_key(self.agent.delete(format!("{}{path}", self.url))).call()).map(drop)
    }

    /// The JSON of a good answer to a `POST` without a body.
    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.json(self.good(self.with_key(self.agent.post(format!("{}{path}", self.url))).send_empty())?)
    }

    fn with_key<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.key {
            Some(key) => request.header("Authorization", format!("Bearer {key}")),
            None => request,
        }
    }

    fn good(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<Response<Body>, Fault> {
        let mut answer = answer.map_err(|e| Fault::Unreached(self.why(&e)))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let problem = answer.body_mut().read_json().unwrap_or_default();
        Err(Fault::Refused(answer.status(), problem))
    }

    fn json<T: DeserializeOwned>(&self, mut answer: Response<Body>) -> Result<T, Fault> {
        let text = answer.body_mut().read_to_string().map_err(|e| Fault::Unreadable(self.why(&e)))?;
        serde_json::from_str(&text).map_err(|e| Fault::Unreadable(e.to_string()))
    }

    /// The error of a command whose call has failed.
    pub(crate) fn error(&self, fault: Fault) -> Error {
        let url = &self.url;
        Error::Setup(match fault {
            Fault::Unreached(why) => format!("cannot reach {url}: {why}"),
            Fault::Refused(status, problem) => format!("{url} answered {status}: {problem}"),
            Fault::Unreadable(why) => format!("{url} gave an answer that cannot be read: {}", plain(&why)),
        })
    }

    /// Why there is no answer, or only a part of one.
    pub(super) fn why(&self, error: &ureq::Error) -> String {
        match (error, self.patience) {
            (ureq::Error::Timeout(_), Some(patience)) => format!(
                "the server has said nothing for {}; --timeout sets another limit",
                humantime::format_duration(patience)
            ),
            _ => unreached(&self.url, error),
        }
    }
}

/// Why a server gave no answer, and advice if the address may have the wrong scheme.
fn unreached(address: &str, error: &ureq::Error) -> String {
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
