//! The calls of a standby to the server that it follows.

use hyper::Method;
use serde::de::IgnoredAny;

use crate::cli::plain;
use crate::cli::remote::calls::{Access, Body, Fault, Server};
use crate::prelude::*;
use feed::standbys::{CopyRequest, End};

const PATH: &str = "/v1/admin/standby";
/// A connection, the head of an answer, and each further piece of it may take so long. The stream of the log says
/// something every second.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// A server that may be lost is asked for so long whether it serves.
const TIME_LIMIT_WITH_LOST: Duration = Duration::from_secs(2);
/// A copy flushes all write buffers of the server first.
const TIME_LIMIT_FOR_COPY: Duration = Duration::from_secs(300);

/// The server, as this standby calls it.
pub(super) struct Origin {
    server: Server,
    pub(super) name: String,
    own_url: String,
}

/// The answer to a seal.
#[derive(Deserialize)]
pub(super) struct Seal {
    /// The last row of the server.
    pub(super) row: u64,
    ticket: String,
}

/// A code that a standby acts upon.
fn known(name: &str) -> Option<Code> {
    [Code::LogGone, Code::NotHandingOver, Code::BodyTooLarge].into_iter().find(|code| code.name() == name)
}

/// Whether a server serves applications.
pub(super) fn is_ready(server: &Server) -> Result<bool, Fault> {
    Ok(server.field::<String>(Method::GET, "/readyz", "status")? == "ready")
}

impl Origin {
    pub(super) fn new(url: &str, access: &Access, name: String, own_url: String) -> Result<Self> {
        Ok(Self { server: access.server("--from", url, TIME_LIMIT)?, name, own_url })
    }

    /// The error of a call, with the codes that a standby acts upon.
    fn error(&self, fault: Fault) -> Error {
        let code = known(fault.code());
        let error = Error::from(fault);
        code.map_or_else(|| error.clone(), |code| Error::refused(code, &error))
    }

    /// The archive of a copy. Only its beginning may take long.
    pub(super) fn take_copy(&self, request: &CopyRequest) -> Result<Body> {
        let request = serde_json::to_string(request).context("the request for a copy")?;
        let patient = self.server.with_time_limit(TIME_LIMIT_FOR_COPY);
        let archive = patient.read(Method::POST, &format!("{PATH}/copies"), request);
        Ok(archive.map_err(|fault| self.error(fault))?.with_time_limit(TIME_LIMIT))
    }

    /// A call whose good answer says no more.
    fn tell(&self, method: Method, path: &str, body: Option<&Value>) -> Result<()> {
        let told = self.server.call::<IgnoredAny>(method, &format!("{PATH}/{path}"), body);
        told.map(drop).map_err(|fault| self.error(fault))
    }

    /// The error of a stream that the server has ended.
    pub(super) fn ended(end: &End) -> Error {
        let why = format!("the server has ended the stream of its log: {}", plain(&end.detail));
        match known(&end.code) {
            Some(code) => Error::refused(code, why),
            None => Error::Setup(why),
        }
    }

    /// The stream of the log behind a row.
    pub(super) fn follow(&self, log: u64, after: u64) -> Result<Body> {
        let name = self.quoted_name();
        let path = format!("{PATH}/log?standby={name}&log={log:016x}&after={after}");
        self.server.read(Method::GET, &path, String::new()).map_err(|fault| self.error(fault))
    }

    fn quoted_name(&self) -> String {
        self.name.bytes().map(|byte| format!("%{byte:02X}")).collect()
    }

    /// Whether the server answers, and serves applications.
    pub(super) fn serves(&self) -> bool {
        is_ready(&self.server.with_time_limit(TIME_LIMIT_WITH_LOST)).unwrap_or(false)
    }

    /// Tells how far this standby is.
    pub(super) fn report(&self, applied: u64) -> Result<()> {
        self.tell(Method::PUT, "progress", Some(&json!({"standby": self.name, "applied": applied})))
    }

    /// Makes the server take no changes. If the answer is lost, it takes them again, now or within a minute.
    pub(super) fn seal(&self) -> Result<Seal> {
        let sealed = self.server.call(Method::POST, &format!("{PATH}/seal"), Some(&json!({"standby": self.name})));
        sealed.map_err(|fault| {
            if fault.code().is_empty() {
                let _ = self.unseal();
            }
            self.error(fault)
        })
    }

    /// Lets the server take changes again, if it hands over to this standby.
    pub(super) fn unseal(&self) -> Result<()> {
        self.tell(Method::DELETE, &format!("seal?standby={}", self.quoted_name()), None)
    }

    /// Ends the part of the server. The error is `not_handing_over` if it has taken changes again; after another one it may
    /// have ended, or not.
    pub(super) fn hand_over(&self, seal: &Seal) -> Result<()> {
        let body = json!({"ticket": seal.ticket, "url": self.own_url, "row": seal.row});
        self.tell(Method::POST, "handover", Some(&body))
    }
}
