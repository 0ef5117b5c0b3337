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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::Backups;
    use crate::backup::manifest;
    use crate::backup::manifest::{MANIFEST, Manifest};
    use config::Config;

    /// The detail of a refusal as busy.
    fn busy<T>(result: Result<T>) -> String {
        let error = result.map(drop).expect_err("busy");
        assert_eq!(error.code(), Some(Code::BackupBusy));
        error.to_string()
    }

    #[test]
    fn a_backup_is_taken_alone_and_not_while_too_many_wait() {
        let dir = tempfile::tempdir().expect("temp dir");
        let mut config = Config::default();
        config.storage.data_dir = dir.path().to_owned();
        config.backup.keep = 1;
        let backups = Backups::new(&config);
        let shared = &backups.shared;
        let taking = Taking::begin(shared).expect("the first");
        assert!(busy(Taking::begin(shared)).contains("a backup is being taken"));
        drop(taking);
        for at in 0..2 {
            drop(Taking::begin(shared).expect("few wait"));
            let folder = dir.path().join("backups").join(manifest::name(at));
            std::fs::create_dir_all(&folder).expect("makes");
            let (name, release) = (manifest::name(at), "0.1.0".to_owned());
            let facts =
                Manifest { name, begun_at: at, took_ms: 0, format: 3, release, files: 0, bytes: 0, sequence: 0 };
            manifest::write(&folder.join(MANIFEST), &facts).expect("writes");
        }
        assert!(busy(Taking::begin(shared)).contains("too many backups wait for their verification"));
    }
}
