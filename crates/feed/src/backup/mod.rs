//! Backups: copies of the store that are taken while it is in use, verified, listed, kept and removed.
//!
//! A backup is a folder with the files of a data directory, a [`Manifest`], and after its verification a verdict. Work
//! goes on in folders beside it, so that a folder with the name of a backup is always a whole one.

mod archive;
mod claims;
mod manifest;
mod prune;
mod shelf;
mod unpack;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use self::claims::{Reading, Taking, Verifying};
use self::manifest::Verdict;
use self::prune::surplus;
use self::shelf::{CHECK, PART, Shelf};
use config::Config;
use model::clock;
use model::error::{Code, Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::store::{Copied, Watch};
use store::Store;

pub use self::archive::Archive;
pub use self::manifest::Manifest;
pub use self::shelf::{Backup, State};
pub use self::unpack::{manifest_of, unpack};

/// The interval of log lines about the progress of a verification.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Backups in figures.
#[derive(Debug, Default)]
pub struct Figures {
    /// Backups taken in this run.
    pub taken: AtomicU64,
    /// Attempts and verifications that failed in this run.
    pub failed: AtomicU64,
    /// When the newest verified backup began; 0 if there is none.
    pub newest_verified: AtomicU64,
    /// When the newest backup began that was copied elsewhere; 0 if there is none.
    pub newest_copied: AtomicU64,
    /// Copies to elsewhere that failed in this run.
    pub copies_failed: AtomicU64,
}

/// The backups of one store. One at a time is taken; one at a time is verified, by a thread that ends when none is left
/// to verify.
#[derive(Debug)]
pub struct Backups {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    shelf: Shelf,
    /// Whether the settings name the directory, so that a start looks whether it can be used.
    is_elsewhere: bool,
    keep: usize,
    now: Mutex<Now>,
    /// Told when the thread that verifies ends.
    rested: Condvar,
    figures: Figures,
}

/// The work under way.
#[derive(Debug, Default)]
struct Now {
    is_taking: bool,
    /// Whether a thread verifies.
    is_verifying: bool,
    verifying: Option<String>,
    /// Backups whose verification could not be finished in this run.
    put_off: HashSet<String>,
    /// Backups that are being read, and how many times.
    reading: HashMap<String, usize>,
    is_stopping: bool,
}

impl Backups {
    /// The backups of a data directory, by the settings. Touches nothing.
    pub fn new(config: &Config) -> Self {
        let shelf = Shelf::new(shelf::place(&config.backup.dir, &config.storage.data_dir));
        let keep = config.backup.keep;
        let is_elsewhere = !config.backup.dir.as_os_str().is_empty();
        let (now, rested, figures) = Default::default();
        Self { shared: Arc::new(Shared { shelf, is_elsewhere, keep, now, rested, figures }) }
    }

    /// Takes a backup, which is then verified in the background. Refused with `backup_busy` while another one is being
    /// taken, or if more wait for their verification than are kept.
    pub fn take(&self, store: &Arc<Store>) -> Result<Backup> {
        let shared = &self.shared;
        let taking = Taking::begin(shared)?;
        let taken = shared.take(store);
        drop(taking);
        let manifest = taken.inspect_err(|error| {
            shared.figures.failed.fetch_add(1, Ordering::Relaxed);
            tracing::error!(%error, "a backup could not be taken");
        })?;
        shared.figures.taken.fetch_add(1, Ordering::Relaxed);
        let Manifest { name, took_ms, files, bytes, .. } = &manifest;
        tracing::info!(name, took_ms, files, bytes, "a backup was taken");
        self.verify(store);
        Ok(Backup::of(manifest, None))
    }

    /// Makes the directory of the settings, removes what interrupted work has left, and verifies the backups that have no verdict.
    pub fn resume(&self, store: &Arc<Store>) -> Result<()> {
        let shelf = &self.shared.shelf;
        if self.shared.is_elsewhere {
            shelf.make()?;
        }
        shelf.tidy(PART)?;
        // A backup that is removed is not verified again.
        shelf.tidy(CHECK)?;
        self.shared.note_newest();
        self.shared.figures.newest_copied.store(shelf.newest_copied(), Ordering::Relaxed);
        self.verify(store);
        Ok(())
    }

    /// All backups, newest first.
    pub fn list(&self) -> Result<Vec<Backup>> {
        let mut backups = self.shared.shelf.list()?;
        let verifying = self.shared.now.lock().verifying.clone();
        let is_verifying = |of: &&mut Backup| of.state == State::Unverified && verifying.as_ref() == Some(of.name());
        backups.iter_mut().filter(is_verifying).for_each(|of| of.state = State::Verifying);
        Ok(backups)
    }

    /// The archive of a backup, which is not removed while the archive exists.
    pub fn read(&self, name: &str) -> Result<Archive> {
        let held = Reading::begin(&self.shared, name)?;
        let archive = Archive::of(&self.shared.shelf.find(name)?);
        let archive = archive.map_err(|e| Error::Storage(format!("backup {name}: {e}")))?;
        Ok(archive.holding(held))
    }

    /// Notes that a backup was copied elsewhere, or the reason why that failed.
    pub fn note_copy(&self, name: &str, failure: Option<&str>) -> Result<()> {
        let figures = &self.shared.figures;
        match failure {
            None => {
                figures.newest_copied.store(self.shared.shelf.note_copy(name)?, Ordering::Relaxed);
                tracing::info!(name, "a backup was copied");
            }
            Some(failure) => {
                self.shared.shelf.find(name)?;
                figures.copies_failed.fetch_add(1, Ordering::Relaxed);
                tracing::error!(name, failure, "a backup could not be copied");
            }
        }
        Ok(())
    }

    /// Removes a backup. Refused with `backup_busy` while it is being read.
    pub fn remove(&self, name: &str) -> Result<()> {
        self.shared.remove(name)?;
        self.shared.note_newest();
        tracing::info!(name, "a backup was removed");
        Ok(())
    }

    /// Ends a verification soon, and refuses new backups. Does not wait.
    pub fn stop(&self) {
        self.shared.now.lock().is_stopping = true;
    }

    /// Waits until no verification is under way, for at most this long; whether none is.
    pub fn rest(&self, patience: Duration) -> bool {
        let mut now = self.shared.now.lock();
        let _ = self.shared.rested.wait_while_for(&mut now, |now| now.is_verifying, patience);
        !now.is_verifying
    }

    /// The figures, which go on changing.
    pub fn figures(&self) -> &Figures {
        &self.shared.figures
    }

    /// Lets a thread verify, unless one does.
    fn verify(&self, store: &Arc<Store>) {
        let mut now = self.shared.now.lock();
        if now.is_verifying || now.is_stopping {
            return;
        }
        let (shared, store) = (Arc::clone(&self.shared), Arc::clone(store));
        let thread = std::thread::Builder::new().name("verify".to_owned()).spawn(move || {
            let _verifying = Verifying(&shared);
            shared.verify_all(&store);
            drop(store);
        });
        match thread {
            Ok(_) => now.is_verifying = true,
            Err(error) => tracing::error!(%error, "no thread for the verification of a backup could be started"),
        }
    }
}

impl Shared {
    fn take(&self, store: &Store) -> Result<Manifest> {
        self.shelf.make()?;
        self.shelf.tidy(PART)?;
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

    fn verify_all(&self, store: &Store) {
        while let Some(name) = self.next_to_verify() {
            let verdict = self.verify(store, &name);
            let judged = verdict.and_then(|verdict| {
                failpoint::pass(Failpoint::BackupChecked);
                self.shelf.judge(&name, &verdict)?;
                failpoint::pass(Failpoint::BackupJudged);
                Ok(verdict)
            });
            self.now.lock().verifying = None;
            match judged {
                Ok(verdict) if verdict.total == 0 => {
                    tracing::info!(name, "a backup was verified");
                    self.note_newest();
                    self.prune();
                }
                Ok(verdict) => {
                    self.figures.failed.fetch_add(1, Ordering::Relaxed);
                    let (findings, first) = (verdict.total, verdict.findings.first());
                    tracing::error!(name, findings, first, "a backup is not good; older backups are kept");
                    self.prune();
                }
                Err(error) => {
                    let code = error.code();
                    self.now.lock().put_off.insert(name.clone());
                    if code == Some(Code::Stopping) || code == Some(Code::BackupNotFound) {
                        continue;
                    }
                    tracing::warn!(name, %error, "a backup could not be verified; the next start tries again");
                }
            }
        }
    }

    /// The newest backup without a verdict.
    fn next_to_verify(&self) -> Option<String> {
        // Held during the look, so that a backup that is finished meanwhile starts a new thread.
        let mut now = self.now.lock();
        let kept = self.shelf.list().inspect_err(|error| tracing::error!(%error, "backups cannot be listed")).ok();
        let is_next = |kept: &Backup| kept.state == State::Unverified && !now.put_off.contains(kept.name());
        let next = kept.unwrap_or_default().into_iter().find(is_next).filter(|_| !now.is_stopping);
        let next = next.map(|kept| kept.manifest.name);
        now.verifying.clone_from(&next);
        now.is_verifying = next.is_some();
        next
    }

    /// Verifies a backup. Fails if that was not possible, which says nothing about the backup.
    fn verify(&self, store: &Store, name: &str) -> Result<Verdict> {
        self.shelf.tidy(CHECK)?;
        let copy = self.shelf.find(name)?;
        let mut watched = Watched { name, shared: self, verdict: Verdict::default(), told: Instant::now() };
        let checked = store.check_copy(&copy, &self.shelf.aside(name, CHECK), &mut watched);
        let mut verdict = watched.verdict;
        match checked {
            Err(error @ Error::Refused { .. }) => return Err(error),
            Err(error) => verdict.add(error.to_string()),
            Ok(()) => {}
        }
        Ok(Verdict { verified_at: clock::now(), ..verdict })
    }

    /// Removes old backups: those older than the newest good ones that are kept, and, of those that are not good, all
    /// but as many of the newest.
    fn prune(&self) {
        let pruned = self.shelf.list().and_then(|kept| {
            for name in surplus(&kept, self.keep) {
                match self.remove(name) {
                    Ok(()) => tracing::info!(name, "an old backup was removed"),
                    Err(error) if error.code() == Some(Code::BackupBusy) => {}
                    removed => removed?,
                }
            }
            Ok(())
        });
        if let Err(error) = pruned {
            tracing::error!(%error, "old backups could not be removed");
        }
    }

    fn remove(&self, name: &str) -> Result<()> {
        // Held meanwhile, so that nobody begins to read it.
        let now = self.now.lock();
        if now.reading.contains_key(name) {
            return Err(Error::refused(Code::BackupBusy, "this backup is being read. Send the request again later"));
        }
        self.shelf.remove(name)
    }

    fn note_newest(&self) {
        let newest =
            self.shelf.list().ok().and_then(|kept| kept.into_iter().find(|kept| kept.state == State::Verified));
        let at = newest.map_or(0, |newest| newest.manifest.begun_at);
        self.figures.newest_verified.store(at, Ordering::Relaxed);
    }
}

/// Notes the findings of a verification, and ends it when told to stop.
struct Watched<'a> {
    name: &'a str,
    shared: &'a Shared,
    verdict: Verdict,
    told: Instant,
}

impl Watch for Watched<'_> {
    fn finds(&mut self, line: String) {
        self.verdict.add(line);
    }

    fn looked_at(&mut self, table: &'static str, rows: u64) -> Result<()> {
        if self.shared.now.lock().is_stopping {
            return Err(Code::Stopping.into());
        }
        if self.told.elapsed() >= TELL_EVERY {
            self.told = Instant::now();
            tracing::info!(name = self.name, table, rows, "a backup is being verified");
        }
        Ok(())
    }
}
