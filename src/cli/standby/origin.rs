//! The calls of a standby to the server that it follows.

use std::fmt;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::remote::calls::{self, Fault, Server};
use feed::standbys::CopyPlan;
use model::error::{Code, Error, Result};

const PATH: &str = "/v1/admin/standby";
/// A connection, the head of an answer, and each further piece of it may take so long. The stream of the log says
/// something every second.
const PATIENCE: Duration = Duration::from_secs(10);
/// A copy flushes all write buffers of the server first.
const PATIENCE_FOR_COPY: Duration = Duration::from_secs(300);

/// The server, as this standby calls it.
pub(super) struct Origin {
    server: Server,
    /// For calls that may take long.
    patient: Server,
    pub(super) name: String,
    own_url: String,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("name", &self.name).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct Row {
    row: u64,
}

impl Origin {
    pub(super) fn new(
        url: &str,
        key: Option<String>,
        ca: Option<&Path>,
        name: String,
        own_url: String,
    ) -> Result<Self> {
        let server = |patience| {
            let settings = calls::settings()
                .timeout_connect(Some(PATIENCE))
                .timeout_per_write(Some(PATIENCE))
                .timeout_recv_response(Some(patience))
                .timeout_per_read(Some(patience));
            Server::new(url.to_owned(), key.clone(), ca, settings)
        };
        Ok(Self { server: server(PATIENCE)?, patient: server(PATIENCE_FOR_COPY)?, name, own_url })
    }

    /// The error of a call, with the codes that a standby acts upon.
    fn error(&self, fault: Fault) -> Error {
        let code = [Code::LogGone, Code::CopyNotFound].into_iter().find(|code| code.name() == fault.code());
        let error = self.server.error(fault);
        code.map_or_else(|| error.clone(), |code| Error::refused(code, &error))
    }

    pub(super) fn take_copy(&self) -> Result<CopyPlan> {
        let plan = self.patient.post(&format!("{PATH}/copies"));
        plan.map_err(|fault| self.error(fault))
    }

    /// The rest of a file of a copy.
    pub(super) fn read_file(&self, copy: &str, file: &str, first: u64) -> Result<impl Read + use<>> {
        let path = format!("{PATH}/copies/{copy}/{file}");
        let answer = if first == 0 { self.server.get(&path) } else { self.server.get_from(&path, first) };
        let answer = answer.map_err(|fault| self.error(fault))?;
        Ok(answer.into_body().into_with_config().limit(u64::MAX).reader())
    }

    pub(super) fn end_copy(&self, copy: &str) {
        // It ends by itself, too.
        let _ = self.server.delete(&format!("{PATH}/copies/{copy}"));
    }

    /// The stream of the log behind a row.
    pub(super) fn follow(&self, log: u64, after: u64) -> Result<impl Read + use<>> {
        let name: String = self.name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = self.server.get(&format!("{PATH}/log?standby={name}&log={log:016x}&after={after}"));
        let answer = answer.map_err(|fault| self.error(fault))?;
        Ok(answer.into_body().into_with_config().limit(u64::MAX).reader())
    }

    /// Tells how far this standby is.
    pub(super) fn report(&self, applied: u64) -> Result<()> {
        let body = json!({"standby": self.name, "applied": applied});
        let told: Result<Row, _> = self.server.put_json(&format!("{PATH}/progress"), &body);
        told.map(drop).map_err(|fault| self.error(fault))
    }

    /// Makes the server take no changes. Returns its last row.
    pub(super) fn seal(&self) -> Result<u64> {
        let told: Result<Row, _> = self.server.post_json(&format!("{PATH}/seal"), &json!({"standby": self.name}));
        told.map(|told| told.row).map_err(|fault| self.error(fault))
    }

    /// Lets the server take changes again.
    pub(super) fn unseal(&self) -> Result<()> {
        self.server.delete(&format!("{PATH}/seal")).map_err(|fault| self.error(fault))
    }

    /// Ends the part of the server. `Ok(false)` if the answer is lost.
    pub(super) fn hand_over(&self, row: u64) -> Result<bool> {
        let body = json!({"standby": self.name, "url": self.own_url, "row": row});
        match self.server.post_json::<Value>(&format!("{PATH}/handover"), &body) {
            Ok(_) => Ok(true),
            Err(Fault::Unreached(_) | Fault::Unreadable(_)) => Ok(false),
            Err(fault) => Err(self.error(fault)),
        }
    }
}
