//! The backups of a running server, over HTTP.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::super::calls::{self, Fault, Server};
use super::BackupSource;
use crate::cli::plain;
use feed::backup::Backup;
use model::error::{Error, Result};

/// The path of backups.
const PATH: &str = "/v1/admin/backups";

/// A server.
pub(super) struct Remote(Arc<Server>);

#[derive(Deserialize)]
struct List {
    items: Vec<Backup>,
}

impl Remote {
    /// A server at an address, with the first key in a file or the key in the environment. A connection, the head of an
    /// answer, and each further piece of it may take as long as `patience`.
    pub(super) fn new(url: &str, key_file: Option<&Path>, ca_file: Option<&Path>, patience: Duration) -> Result<Self> {
        let settings = calls::settings()
            .timeout_connect(Some(patience))
            .timeout_per_write(Some(patience))
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(patience));
        let server = Server::new(calls::address("--url", url)?, calls::key(key_file)?, ca_file, settings)?;
        Ok(Self(Arc::new(server.with_patience(patience))))
    }

    /// Fails with the reason if no server of this program can have told the backup.
    fn checked(&self, told: Result<Backup, Fault>) -> Result<Backup> {
        let check = |mut backup: Backup| {
            backup.manifest.check().map_err(|why| Fault::Unreadable(format!("a backup: {why}")))?;
            backup.findings.iter_mut().for_each(|finding| *finding = plain(finding));
            Ok(backup)
        };
        told.and_then(check).map_err(|fault| self.0.error(fault))
    }
}

impl BackupSource for Remote {
    fn take(&self) -> Result<Backup> {
        self.checked(self.0.post(PATH))
    }

    fn list(&self) -> Result<Vec<Backup>> {
        let List { items } = self.0.get_json(PATH).map_err(|fault| self.0.error(fault))?;
        items.into_iter().map(|shown| self.checked(Ok(shown))).collect()
    }

    fn read(&self, name: &str) -> Result<(Box<dyn Read + Send>, u64)> {
        let answer = self.0.get(&format!("{PATH}/{name}")).map_err(|fault| self.0.error(fault))?;
        let length = answer.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
        let length = length.ok_or_else(|| Error::Setup(format!("{} gave an archive without a length", self.0.url)))?;
        let body = answer.into_body().into_with_config().limit(u64::MAX).reader();
        Ok((Box::new(Whole { body, left: length, server: Arc::clone(&self.0) }), length))
    }

    fn note_copy(&self, name: &str, failure: Option<&str>) -> Result<()> {
        let report = json!({ "failure": failure });
        self.0.put(&format!("{PATH}/{name}/copy"), &report).map_err(|fault| self.0.error(fault))
    }
}

/// Fails if the connection ends before the archive.
struct Whole<R> {
    body: R,
    left: u64,
    server: Arc<Server>,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(buffer).map_err(|e| match ureq::Error::from(e) {
            e @ ureq::Error::Timeout(_) => io::Error::new(io::ErrorKind::TimedOut, self.server.why(&e)),
            e => e.into_io(),
        })?;
        if count == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server has cut the archive short"));
        }
        self.left = self.left.saturating_sub(count as u64);
        Ok(count)
    }
}
