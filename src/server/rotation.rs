//! Replaces keys while the server runs: when a file of keys has changed, and at SIGHUP.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use actix_web::rt;
use crossbeam_channel::{RecvTimeoutError, bounded};
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Auth, Config};
use crate::error::{Error, Result};
use crate::http::Gate;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Starts to look after the keys of `auth`, and at SIGHUP after those of the configuration file, if there is one. It
/// ends with the system of the caller. The files are read on a thread of their own, because a file system may not answer.
pub(super) fn start(auth: Auth, file: Option<PathBuf>, gate: Arc<Gate>) -> Result<()> {
    let failed = |what: &str, e: std::io::Error| Error::Setup(format!("{what}: {e}"));
    let mut hangup = signal(SignalKind::hangup()).map_err(|e| failed("cannot wait for SIGHUP", e))?;
    let (tell, told) = bounded(1);
    let mut keys = Keys { auth, file, gate, said: None };
    let look = move || {
        loop {
            match told.recv_timeout(LOOK_EVERY) {
                Ok(()) => keys.read_settings(),
                Err(RecvTimeoutError::Timeout) => keys.read_files(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    };
    thread::Builder::new().name("keys".to_owned()).spawn(look).map_err(|e| failed("cannot start a thread", e))?;
    rt::spawn(async move {
        while hangup.recv().await.is_some() {
            // If it is full, the keys are read soon anyway.
            let _ = tell.try_send(());
        }
    });
    Ok(())
}

struct Keys {
    auth: Auth,
    file: Option<PathBuf>,
    gate: Arc<Gate>,
    /// The last failure, so that it is logged once.
    said: Option<String>,
}

impl Keys {
    fn read_settings(&mut self) {
        self.said = None;
        let read = Config::load(self.file.as_deref()).and_then(|config| {
            // Kept only if all its keys can be read.
            let changed = self.replace(&config.auth)?;
            self.auth = config.auth;
            Ok(changed)
        });
        if let Ok(false) = read {
            tracing::info!("the keys were read again; none has changed");
        }
        self.tell(read);
    }

    fn read_files(&mut self) {
        let read = self.replace(&self.auth);
        self.tell(read);
    }

    /// Whether a key has changed. A server that has keys never goes on without any.
    fn replace(&self, auth: &Auth) -> Result<bool> {
        let keys = auth.credentials()?;
        if keys.is_empty() && !self.gate.is_open() {
            return Err(Error::Setup("the section [auth] has no key any more".to_owned()));
        }
        Ok(self.gate.replace(keys, auth))
    }

    fn tell(&mut self, read: Result<bool>) {
        match read {
            Ok(changed) => {
                self.said = None;
                if changed {
                    tracing::info!("keys were replaced; tokens are verified anew");
                }
            }
            Err(error) => {
                // Further lines of a message may be an excerpt of a file with keys.
                let error = error.to_string().lines().next().unwrap_or_default().to_owned();
                if self.said.as_ref() != Some(&error) {
                    tracing::error!(error, "the keys could not be read again; those in force are kept");
                    self.said = Some(error);
                }
            }
        }
    }
}
