//! Replaces keys while the server runs: when a file of keys has changed, and at SIGHUP.

use actix_web::rt;
use crossbeam_channel::{RecvTimeoutError, bounded};
use tokio::signal::unix::{SignalKind, signal};

use crate::prelude::*;
use config::{Auth, Credentials};
use http::{Authenticator, Reloads};

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Starts to look after the keys of `auth`, and at SIGHUP after those of the configuration file, if there is one. It
/// ends with the system of the caller. The files are read on a thread of their own, because a file system may not answer.
/// `reloads` gets the results.
pub(super) fn start(auth: &Auth, file: Option<PathBuf>, gate: Arc<Authenticator>, reloads: Arc<Reloads>) -> Result<()> {
    let mut hangup = signal(SignalKind::hangup()).context("cannot wait for SIGHUP")?;
    let (tell, told) = bounded(1);
    let mut keys = Keys { auth: auth.clone(), file, gate, reloads, seen: None, said: None };
    let look = move || {
        loop {
            match told.recv_timeout(LOOK_EVERY) {
                Ok(()) => keys.read_settings(),
                Err(RecvTimeoutError::Timeout) => keys.read_files(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    };
    threads::start("keys", look)?;
    rt::spawn(async move {
        while hangup.recv().await.is_some() {
            // If it is full, the keys are read soon anyway.
            let _ = tell.try_send(());
        }
    });
    Ok(())
}

/// Warns of files with keys or secrets that every user of the machine may read.
pub(super) fn warn_of_exposed(auth: &Auth, configuration: Option<&Path>) {
    for (file, mode) in auth.exposed(configuration) {
        let (file, mode) = (file.display(), format_args!("{mode:04o}"));
        tracing::warn!(%file, %mode, "every user of this machine may read a file with keys or secrets; chmod o= it");
    }
}

struct Keys {
    auth: Auth,
    file: Option<PathBuf>,
    gate: Arc<Authenticator>,
    reloads: Arc<Reloads>,
    /// The keys at the last look, or why they could not be read.
    seen: Option<Result<Credentials, String>>,
    /// The last failure, so that it is logged once.
    said: Option<String>,
}

impl Keys {
    fn read_settings(&mut self) {
        self.said = None;
        let read = Config::load(self.file.as_deref()).and_then(|config| {
            // Kept only if all its keys can be read.
            let changed = self.replace(config.auth.credentials()?, &config.auth)?;
            self.auth = config.auth;
            Ok(changed)
        });
        if let Ok(false) = read {
            tracing::info!("the keys were read again; none has changed");
        }
        self.tell(read);
    }

    /// A change counts when two looks have found the same: a file may be in the middle of a write.
    fn read_files(&mut self) {
        let keys = self.auth.credentials();
        let found = Some(keys.clone().map_err(|e| e.to_string()));
        if self.seen == found {
            let read = keys.and_then(|keys| self.replace(keys, &self.auth));
            self.tell(read);
        }
        self.seen = found;
    }

    /// Whether a key has changed. A server that has keys never goes on without any.
    fn replace(&self, keys: Credentials, auth: &Auth) -> Result<bool> {
        if keys.is_empty() && !self.gate.is_open() {
            return Err(Error::Setup("the section [auth] has no key any more".to_owned()));
        }
        Ok(self.gate.replace(keys, auth))
    }

    fn tell(&mut self, read: Result<bool>) {
        self.reloads.keys.ended(read.is_ok());
        match read {
            Ok(changed) => {
                self.said = None;
                if changed {
                    warn_of_exposed(&self.auth, self.file.as_deref());
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_being_written_is_not_taken() {
        const KEYS: [&str; 2] =
            ["tlk_0123456789abcdefghijklmnopqrstuvwxyz", "tlk_abcdefghijklmnopqrstuvwxyz0123456789"];
        let dir = tempfile::tempdir().expect("temp dir");
        let file = dir.path().join("keys");
        fs::write(&file, KEYS[0]).expect("write");
        let auth = Auth { keys_file: file.clone(), ..Auth::default() };
        let gate = Arc::new(Authenticator::new(&auth).expect("reads"));
        let mut keys = Keys {
            auth: auth.clone(),
            file: None,
            gate: Arc::clone(&gate),
            reloads: Arc::default(),
            seen: None,
            said: None,
        };
        let old = auth.credentials().expect("reads");
        // A replacement by the same keys changes nothing.
        let mut is_old_after = |text: &str| {
            fs::write(&file, text).expect("write");
            keys.read_files();
            !gate.replace(old.clone(), &auth)
        };
        let whole = KEYS.join("\n");
        for part in [&whole[..60], &whole[..76], "", "# nothing", &whole] {
            assert!(is_old_after(part), "{part}");
        }
        assert!(!is_old_after(&whole));
        assert!(is_old_after("") && is_old_after(""), "an empty file does not remove keys");
    }
}
