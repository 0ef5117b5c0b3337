//! The backups of a running server, over HTTP.

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::Response;
use ureq::{Body, RequestBuilder};

use super::super::calls;
use super::super::tls::Trust;
use super::BackupSource;
use crate::cli::plain;
use feed::backup::{Backup, Manifest, State};
use model::error::{Error, Result};

/// The path of backups.
const PATH: &str = "/v1/admin/backups";

/// A server.
pub(super) struct Remote {
    agent: Agent,
    url: String,
    key: Option<String>,
    patience: Duration,
}

/// A backup as the server shows it.
#[derive(Deserialize)]
struct BackupReport {
    name: String,
    begun_at: u64,
    took_ms: u64,
    state: String,
    verified_at: Option<u64>,
    findings: Vec<String>,
    format: u32,
    release: String,
    bytes: u64,
}

#[derive(Deserialize)]
struct List {
    items: Vec<BackupReport>,
}

#[derive(Deserialize)]
struct Problem {
    code: String,
    detail: String,
}

impl BackupReport {
    /// Fails with the reason if no server of this program can have sent it.
    fn check(self) -> Result<Backup, String> {
        let Self { name, begun_at, took_ms, state, verified_at, findings, format, release, bytes } = self;
        let states = [State::Unverified, State::Verifying, State::Verified, State::Failed];
        let state = states.into_iter().find(|known| known.as_str() == state).ok_or("a backup has an unknown state")?;
        // The server does not show the others.
        let manifest = Manifest { name, begun_at, took_ms, format, release, files: 0, bytes, sequence: 0 };
        manifest.check().map_err(|why| format!("a backup: {why}"))?;
        let findings = findings.iter().map(|finding| plain(finding)).collect();
        Ok(Backup { manifest, state, verified_at, findings })
    }
}

impl Remote {
    /// A server at an address, with the first key in a file or the key in the environment. A connection, the head of an
    /// answer, and each further piece of it may take as long as `patience`.
    pub(super) fn new(url: &str, key_file: Option<&Path>, trust: Trust<'_>, patience: Duration) -> Result<Self> {
        let url = calls::address("--url", url)?;
        let key = calls::key(key_file)?;
        let settings = calls::settings()
            .timeout_connect(Some(patience))
            .timeout_per_write(Some(patience))
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(patience));
        Ok(Self { agent: calls::agent(&url, trust, settings)?, url, key, patience })
    }

    fn asking<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        calls::with_key(request, self.key.as_deref())
    }

    fn get(&self, path: &str) -> Result<Response<Body>> {
        self.answered(self.asking(self.agent.get(format!("{}{path}", self.url))).call())
    }

    /// The good answer to a request.
    fn answered(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<Response<Body>> {
        let mut answer = answer.map_err(|e| {
            let why = if matches!(e, ureq::Error::Timeout(_)) {
                silent(self.patience)
            } else {
                calls::unreached(&self.url, &e)
            };
            Error::Setup(format!("cannot reach {}: {why}", self.url))
        })?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status();
        let said = match answer.body_mut().read_json::<Problem>() {
            Ok(Problem { code, detail }) => plain(&format!("{code}: {detail}")),
            Err(_) => "no Tideline answers there".to_owned(),
        };
        Err(Error::Setup(format!("{} answered {status}: {said}", self.url)))
    }

    /// The body of an answer.
    fn read_json<T: DeserializeOwned>(&self, mut answer: Response<Body>) -> Result<T> {
        let text = answer.body_mut().read_to_string().map_err(|e| match e {
            ureq::Error::Timeout(_) => self.unreadable(&silent(self.patience)),
            e => self.unreadable(&e.to_string()),
        })?;
        serde_json::from_str(&text).map_err(|e| self.unreadable(&e.to_string()))
    }

    fn checked(&self, shown: BackupReport) -> Result<Backup> {
        shown.check().map_err(|why| self.unreadable(&why))
    }

    fn unreadable(&self, why: &str) -> Error {
        Error::Setup(format!("{} gave an answer that cannot be read: {}", self.url, plain(why)))
    }
}

impl BackupSource for Remote {
    fn take(&self) -> Result<Backup> {
        let request = self.asking(self.agent.post(format!("{}{PATH}", self.url)));
        let answer = self.answered(request.send_empty())?;
        self.checked(self.read_json(answer)?)
    }

    fn list(&self) -> Result<Vec<Backup>> {
        let List { items } = self.read_json(self.get(PATH)?)?;
        items.into_iter().map(|shown| self.checked(shown)).collect()
    }

    fn read(&self, name: &str) -> Result<(Box<dyn Read + Send>, u64)> {
        let answer = self.get(&format!("{PATH}/{name}"))?;
        let length = answer.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
        let length = length.ok_or_else(|| Error::Setup(format!("{} gave an archive without a length", self.url)))?;
        let body = answer.into_body().into_with_config().limit(u64::MAX).reader();
        Ok((Box::new(Whole { body, left: length, patience: self.patience }), length))
    }
}

/// The words for a server that says nothing.
fn silent(patience: Duration) -> String {
    format!("the server has said nothing for {}; --timeout sets another limit", humantime::format_duration(patience))
}

/// Fails if the connection ends before the archive.
struct Whole<R> {
    body: R,
    left: u64,
    patience: Duration,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(buffer).map_err(|e| match ureq::Error::from(e) {
            ureq::Error::Timeout(_) => io::Error::new(io::ErrorKind::TimedOut, silent(self.patience)),
            e => e.into_io(),
        })?;
        if count == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server has cut the archive short"));
        }
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
    }
}
