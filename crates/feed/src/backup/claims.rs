//! Work under way that other work has to respect, each until its value is dropped.

use std::sync::Arc;

use super::{Shared, State};
use model::error::{Code, Error, Result};

/// The right to take a backup.
pub(super) struct Taking<'a>(&'a Shared);

impl<'a> Taking<'a> {
    pub(super) fn begin(shared: &'a Shared) -> Result<Self> {
        let waiting = shared.shelf.list()?.iter().filter(|kept| kept.state == State::Unverified).count();
        let mut now = shared.now.lock();
        if now.is_stopping {
            return Err(Code::Stopping.into());
        }
        if now.is_taking {
            return Err(Code::BackupBusy.into());
        }
        if waiting > shared.keep {
            let detail = "too many backups wait for their verification. Send the request again later";
            return Err(Error::refused(Code::BackupBusy, detail));
        }
        now.is_taking = true;
        Ok(Self(shared))
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.now.lock().is_taking = false;
    }
}

/// The thread that verifies.
pub(super) struct Verifying<'a>(pub(super) &'a Shared);

impl Drop for Verifying<'_> {
    /// Also after a panic.
    fn drop(&mut self) {
        let mut now = self.0.now.lock();
        if std::thread::panicking() {
            (now.is_verifying, now.verifying) = (false, None);
        }
        self.0.rested.notify_all();
    }
}

/// A backup that is being read.
pub(super) struct Reading {
    shared: Arc<Shared>,
    name: String,
}

impl Reading {
    pub(super) fn begin(shared: &Arc<Shared>, name: &str) -> Result<Self> {
        let mut now = shared.now.lock();
        shared.shelf.find(name)?;
        *now.reading.entry(name.to_owned()).or_default() += 1;
        Ok(Self { shared: Arc::clone(shared), name: name.to_owned() })
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut now = self.shared.now.lock();
        if let Some(count) = now.reading.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                now.reading.remove(&self.name);
            }
        }
    }
}
