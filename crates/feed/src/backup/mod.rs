//! Backups: copies of the store that are taken while it is in use, verified, listed, kept and removed.
//!
//! A backup is a folder with the files of a data directory, a [`Manifest`], and after its verification a verdict. Work
//! goes on in folders beside it, so that a folder with the name of a backup is always a whole one.

mod archive;
mod backups_dir;
mod manifest;
mod unpack;
mod verify;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use self::backups_dir::{PART, Shelf};
use crate::store::Store;
use config::Config;
use kv::Copied;
use model::error::{Code, Error, Result};
use model::failpoint::Failpoint;
use model::metrics::Page;
use model::{clock, failpoint, figures};

pub use self::{archive::*, backups_dir::*, manifest::*, unpack::*};

/// Backups in figures. Times are milliseconds.
#[derive(Debug, Default)]
struct Figures {
    taken: AtomicU64,
    failed: AtomicU64,
    newest_verified: AtomicU64,
    newest_copied: AtomicU64,
    copies_failed: AtomicU64,
}

/// The backups of one store. One at a time is taken; one at a time is verified, by a thread that ends when none is left
/// to verify.
#[derive(Debug)]
pub struct Backups {
    shelf: Shelf,
    /// Whether the settings name the directory, so that a start looks whether it can be used.
    is_elsewhere: bool,
    keep: usize,
    /// Held while a backup is taken.
    taking: Mutex<()>,
    now: Mutex<Now>,
    /// Told when the thread that verifies ends.
    rested: Condvar,
    figures: Figures,
}

/// The work under way.
#[derive(Debug, Default)]
struct Now {
    /// Whether a thread verifies.
    is_verifying: bool,
    verifying: Option<String>,
    /// Backups whose verification could not be finished in this run.
    put_off: HashSet<String>,
    /// Backups that were read; held by each read that goes on.
    reading: HashMap<String, Weak<()>>,
    is_stopping: bool,
}

impl Backups {
    /// The backups of a data directory, by the settings. Touches nothing.
    pub fn new(config: &Config) -> Self {
        let shelf = Shelf::new(backups_dir::place(&config.backup.dir, &config.storage.data_dir));
        let keep = config.backup.keep;
        let is_elsewhere = !config.backup.dir.as_os_str().is_empty();
        let (taking, now, rested, figures) = Default::default();
        Self { shelf, is_elsewhere, keep, taking, now, rested, figures }
    }

    /// Takes a backup, which is then verified in the background. Refused with `backup_busy` while another one is being
    /// taken, or if more wait for their verification than are kept.
    pub fn take(self: &Arc<Self>, store: &Arc<Store>) -> Result<Backup> {
        let taking = self.begin_taking()?;
        let taken = self.copy(store);
        drop(taking);
        let manifest = taken.inspect_err(|error| {
            self.figures.failed.fetch_add(1, Ordering::Relaxed);
            tracing::error!(%error, "a backup could not be taken");
        })?;
        self.figures.taken.fetch_add(1, Ordering::Relaxed);
        let Manifest { name, took_ms, files, bytes, .. } = &manifest;
        tracing::info!(name, took_ms, files, bytes, "a backup was taken");
        self.verify();
        Ok(Backup::of(manifest, None))
    }

    /// Makes the directory of the settings, removes what interrupted work has left, and verifies the backups that have no verdict.
    pub fn resume(self: &Arc<Self>) -> Result<()> {
        let shelf = &self.shelf;
        if self.is_elsewhere {
            shelf.make()?;
        }
        shelf.tidy()?;
        self.note_newest();
        self.figures.newest_copied.store(shelf.newest_copied(), Ordering::Relaxed);
        self.verify();
        Ok(())
    }

    /// All backups, newest first.
    pub fn list(&self) -> Result<Vec<Backup>> {
        let mut backups = self.shelf.list()?;
        // Asked after the look: a backup with a verdict is shown with it once all that follows from it is done.
        let now = self.now();
        let verifying = backups.iter_mut().filter(|of| now.verifying.as_ref() == Some(of.name()));
        verifying.for_each(|of| *of = Backup { state: State::Verifying, ..Backup::of(of.manifest.clone(), None) });
        Ok(backups)
    }

    /// The archive of a backup, which is not removed while the archive exists.
    pub fn read(&self, name: &str) -> Result<Archive> {
        let (place, held) = self.hold(name)?;
        let archive = Archive::of(&place);
        let archive = archive.map_err(|e| Error::Storage(format!("backup {name}: {e}")))?;
        Ok(archive.holding(held))
    }

    /// Notes that a backup was copied elsewhere, or the reason why that failed.
    pub fn note_copy(&self, name: &str, failure: Option<&str>) -> Result<()> {
        let figures = &self.figures;
        match failure {
            None => {
                figures.newest_copied.store(self.shelf.note_copy(name)?, Ordering::Relaxed);
                tracing::info!(name, "a backup was copied");
            }
            Some(failure) => {
                self.shelf.find(name)?;
                figures.copies_failed.fetch_add(1, Ordering::Relaxed);
                tracing::error!(name, failure, "a backup could not be copied");
            }
        }
        Ok(())
    }

    /// Removes a backup. Refused with `backup_busy` while it is being read.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.remove_unread(name)?;
        self.note_newest();
        tracing::info!(name, "a backup was removed");
        Ok(())
    }

    /// Ends a verification soon, and refuses new backups. Does not wait.
    pub fn stop(&self) {
        self.now().is_stopping = true;
    }

    /// Waits until no verification is under way, for at most this long; whether none is.
    pub fn rest(&self, time_limit: Duration) -> bool {
        let mut now = self.now();
        let _ = self.rested.wait_while_for(&mut now, |now| now.is_verifying, time_limit);
        !now.is_verifying
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock()
    }

    /// Writes the figures to a page.
    pub fn write_figures(&self, page: &mut Page) {
        let seconds = |time: &AtomicU64| time.load(Ordering::Relaxed) / 1000;
        figures! { page =>
            /// Backups taken.
            tideline_backups_taken_total = &self.figures.taken;
            /// Backups that could not be taken, and backups that are not good.
            tideline_backup_failures_total = &self.figures.failed;
            /// The time when the newest verified backup began, in seconds since 1970; 0 if there is none.
            tideline_backup_newest_verified_timestamp_seconds = seconds(&self.figures.newest_verified);
            /// The time when the newest backup began that tideline backup --to has copied, in seconds since 1970; 0 if
            /// there is none.
            tideline_backup_newest_copied_timestamp_seconds = seconds(&self.figures.newest_copied);
            /// Copies by tideline backup --to that failed.
            tideline_backup_copy_failures_total = &self.figures.copies_failed;
        }
    }

    /// The right to take a backup.
    fn begin_taking(&self) -> Result<MutexGuard<'_, ()>> {
        let waiting = self.shelf.list()?.iter().filter(|kept| kept.state == State::Unverified).count();
        if self.now().is_stopping {
            return Err(Code::Stopping.into());
        }
        let taking = self.taking.try_lock().ok_or(Error::from(Code::BackupBusy))?;
        if waiting > self.keep {
            let detail = "too many backups wait for their verification. Send the request again later";
            return Err(Error::refused(Code::BackupBusy, detail));
        }
        Ok(taking)
    }

    /// The folder of a backup, which is not removed while the other value exists.
    fn hold(&self, name: &str) -> Result<(PathBuf, Arc<()>)> {
        let mut now = self.now();
        let place = self.shelf.find(name)?;
        let reads = now.reading.entry(name.to_owned()).or_default();
        let held = reads.upgrade().unwrap_or_default();
        *reads = Arc::downgrade(&held);
        Ok((place, held))
    }

    fn copy(&self, store: &Store) -> Result<Manifest> {
        self.shelf.make()?;
        self.shelf.tidy()?;
        // Above the newest name, also if the clock was set back.
        let (began, mut at) = (Instant::now(), clock::now());
        let newest = self.shelf.list()?.into_iter().next();
        while newest.as_ref().is_some_and(|newest| manifest::name(at) <= *newest.name()) {
            at = newest.as_ref().map_or(at, |newest| at.max(newest.manifest.begun_at)) + 1;
        }
        let name = manifest::name(at);
        let part = self.shelf.aside(&name, PART);
        let taken = store.copy_to(&part).and_then(|Copied { format, sequence }| {
            failpoint::pass(Failpoint::BackupCopied);
            let release = env!("CARGO_PKG_VERSION").to_owned();
            let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            let mut manifest = Manifest { name, begun_at: at, took_ms, format, release, files: 0, bytes: 0, sequence };
            self.shelf.finish(&mut manifest)?;
            failpoint::pass(Failpoint::BackupTaken);
            Ok(manifest)
        });
        if taken.is_err() {
            // The next attempt removes the rest.
            let _ = std::fs::remove_dir_all(part);
        }
        taken
    }

    fn remove_unread(&self, name: &str) -> Result<()> {
        // Held meanwhile, so that nobody begins to read it.
        let mut now = self.now();
        if now.reading.get(name).is_some_and(|reads| reads.strong_count() > 0) {
            return Err(Error::refused(Code::BackupBusy, "this backup is being read. Send the request again later"));
        }
        now.reading.remove(name);
        self.shelf.remove(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::manifest::MANIFEST;

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
        let taking = backups.begin_taking().expect("the first");
        assert!(busy(backups.begin_taking()).contains("a backup is being taken"));
        drop(taking);
        for at in 0..2 {
            drop(backups.begin_taking().expect("few wait"));
            let folder = dir.path().join("backups").join(manifest::name(at));
            std::fs::create_dir_all(&folder).expect("makes");
            let (name, release) = (manifest::name(at), "0.1.0".to_owned());
            let facts =
                Manifest { name, begun_at: at, took_ms: 0, format: 3, release, files: 0, bytes: 0, sequence: 0 };
            manifest::write(&folder.join(MANIFEST), &facts).expect("writes");
        }
        assert!(busy(backups.begin_taking()).contains("too many backups wait for their verification"));
    }
}
