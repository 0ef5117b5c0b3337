//! The verification of backups, by a thread that ends when none is left to verify, and the removal of old ones.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::Backups;
use super::backups_dir::{Backup, State};
use super::manifest::Verdict;
use crate::check::Watch;
use crate::check::copies::check_copy;
use model::error::{Code, Error, Result};
use model::failpoint::Failpoint;
use model::{clock, failpoint};

/// The interval of log lines about the progress of a verification.
const TELL_EVERY: Duration = Duration::from_secs(10);

impl Backups {
    /// Lets a thread verify, unless one does.
    pub(super) fn verify(self: &Arc<Self>) {
        let mut now = self.now();
        if now.is_verifying || now.is_stopping {
            return;
        }
        let backups = Arc::clone(self);
        let thread = std::thread::Builder::new().name("verify".to_owned()).spawn(move || {
            let _ended = Ended(&backups);
            backups.verify_all();
        });
        match thread {
            Ok(_) => now.is_verifying = true,
            Err(error) => tracing::error!(%error, "no thread for the verification of a backup could be started"),
        }
    }

    fn verify_all(&self) {
        while let Some(name) = self.next_to_verify() {
            let verdict = self.audit(&name);
            let judged = verdict.and_then(|verdict| {
                failpoint::pass(Failpoint::BackupChecked);
                self.shelf.judge(&name, &verdict)?;
                failpoint::pass(Failpoint::BackupJudged);
                Ok(verdict)
            });
            match judged {
                Ok(verdict) if verdict.total == 0 => {
                    self.note_newest();
                    self.prune();
                    tracing::info!(name, "a backup was verified");
                }
                Ok(verdict) => {
                    self.figures.failed.fetch_add(1, Ordering::Relaxed);
                    let (findings, first) = (verdict.total, verdict.findings.first());
                    tracing::error!(name, findings, first, "a backup is not good; older backups are kept");
                    self.prune();
                }
                Err(error) => {
                    let code = error.code();
                    self.now().put_off.insert(name.clone());
                    if code != Some(Code::Stopping) && code != Some(Code::BackupNotFound) {
                        tracing::warn!(name, %error, "a backup could not be verified; the next start tries again");
                    }
                }
            }
            self.now().verifying = None;
        }
    }

    /// The newest backup without a verdict.
    fn next_to_verify(&self) -> Option<String> {
        // Held during the look, so that a backup that is finished meanwhile starts a new thread.
        let mut now = self.now();
        let kept = self.shelf.list().inspect_err(|error| tracing::error!(%error, "backups cannot be listed")).ok();
        let is_next = |kept: &Backup| kept.state == State::Unverified && !now.put_off.contains(kept.name());
        let next = kept.unwrap_or_default().into_iter().find(is_next).filter(|_| !now.is_stopping);
        let next = next.map(|kept| kept.manifest.name);
        now.verifying.clone_from(&next);
        now.is_verifying = next.is_some();
        next
    }

    /// Verifies a backup. Fails if that was not possible, which says nothing about the backup.
    fn audit(&self, name: &str) -> Result<Verdict> {
        let copy = self.shelf.find(name)?;
        let mut watched = Watched { name, backups: self, verdict: Verdict::default(), told: Instant::now() };
        let checked = check_copy(&copy, &mut watched);
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
                match self.remove_unread(name) {
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

    pub(super) fn note_newest(&self) {
        let newest =
            self.shelf.list().ok().and_then(|kept| kept.into_iter().find(|kept| kept.state == State::Verified));
        let at = newest.map_or(0, |newest| newest.manifest.begun_at);
        self.figures.newest_verified.store(at, Ordering::Relaxed);
    }
}

/// The names of the backups to remove, of all from the newest on. Never one of the `keep` newest good ones.
fn surplus(kept: &[Backup], keep: usize) -> Vec<&str> {
    let (mut good, mut bad) = (0, 0);
    let mut is_surplus = |kept: &Backup| {
        let is_enough = good >= keep;
        good += usize::from(kept.state == State::Verified);
        bad += usize::from(kept.state == State::Failed);
        is_enough || bad > keep && kept.state == State::Failed
    };
    kept.iter().filter(|kept| is_surplus(kept)).map(|kept| kept.name().as_str()).collect()
}

/// Tells of the end of the thread that verifies, also after a panic.
struct Ended<'a>(&'a Backups);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut now = self.0.now();
            (now.is_verifying, now.verifying) = (false, None);
        }
        self.0.rested.notify_all();
    }
}

/// Notes the findings of a verification, and ends it when told to stop.
struct Watched<'a> {
    name: &'a str,
    backups: &'a Backups,
    verdict: Verdict,
    told: Instant,
}

impl Watch for Watched<'_> {
    fn finds(&mut self, line: String) {
        self.verdict.add(line);
    }

    fn looked_at(&mut self, table: &'static str, rows: u64) -> Result<()> {
        if self.backups.now().is_stopping {
            return Err(Code::Stopping.into());
        }
        if self.told.elapsed() >= TELL_EVERY {
            self.told = Instant::now();
            tracing::info!(name = self.name, table, rows, "a backup is being verified");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backup::manifest::Manifest;

    fn kept(states: &str) -> Vec<Backup> {
        let one = |(place, state): (usize, char)| {
            let name = place.to_string();
            let (took_ms, files, bytes, sequence) = Default::default();
            let release = String::new();
            let manifest = Manifest { name, begun_at: 0, took_ms, format: 3, release, files, bytes, sequence };
            let verdict = |total| Some(Verdict { total, ..Verdict::default() });
            match state {
                'g' => Backup::of(manifest, verdict(0)),
                'b' => Backup::of(manifest, verdict(1)),
                _ => Backup::of(manifest, None),
            }
        };
        states.chars().enumerate().map(one).collect()
    }

    #[test]
    fn the_last_good_backups_stay() {
        let removed = |states: &str, keep| surplus(&kept(states), keep).join(" ");
        assert_eq!(removed("ggg", 3), "");
        assert_eq!(removed("ggggg", 3), "3 4");
        assert_eq!(removed("ugbgu", 2), "4");
        assert_eq!(removed("bbbg", 2), "2", "however many are bad, the good one stays");
        assert_eq!(removed("bbbbgggu", 1), "1 2 3 5 6 7");
        assert_eq!(removed("uuuu", 1), "", "nobody knows yet which of them is good");
    }
}
