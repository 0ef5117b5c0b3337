//! The directory of backups: one folder for each, and folders of unfinished work.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::archive::files;
use super::manifest::{self, COPIED, MANIFEST, Manifest, VERDICT, Verdict};
use model::error::{Code, Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::{Millis, private_files};

/// A folder that shows whether folders can be made.
const TRIAL: &str = "trial";
/// After the name: a backup that is being taken.
pub(super) const PART: &str = ".part";
/// After the name: a backup that is being removed.
const GONE: &str = ".gone";

/// Whether a backup is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Its verification has not begun.
    Unverified,
    /// It is being verified.
    Verifying,
    /// Every row can be read, and the tables agree.
    Verified,
    /// It cannot be opened or read, or its tables disagree.
    Failed,
}

impl State {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Verifying => "verifying",
            Self::Verified => "verified",
            Self::Failed => "failed",
        }
    }
}

/// A backup.
#[derive(Debug, Clone, Deserialize)]
pub struct Backup {
    /// Its facts.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// Whether it is good.
    pub state: State,
    /// When its verification ended.
    pub verified_at: Option<Millis>,
    /// The first disagreements that the verification found, a line each.
    pub findings: Vec<String>,
}

impl Backup {
    /// A finished backup, with the verdict of its verification.
    pub(super) fn of(manifest: Manifest, verdict: Option<Verdict>) -> Self {
        let state = match &verdict {
            None => State::Unverified,
            Some(verdict) if verdict.total == 0 => State::Verified,
            Some(_) => State::Failed,
        };
        let verified_at = verdict.as_ref().map(|verdict| verdict.verified_at);
        Self { manifest, state, verified_at, findings: verdict.map(|verdict| verdict.findings).unwrap_or_default() }
    }

    pub(super) fn name(&self) -> &String {
        &self.manifest.name
    }
}

/// The directory of backups. Nothing but this file gives names to folders in it.
#[derive(Debug)]
pub(super) struct Shelf {
    dir: PathBuf,
}

impl Shelf {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// All finished backups, newest first.
    pub(super) fn list(&self) -> Result<Vec<Backup>> {
        let mut kept = Vec::new();
        for name in self.names()?.into_iter().filter(|name| is_name(name)) {
            let dir = self.dir.join(&name);
            // A backup that has just been removed is missing.
            if let Some(found) = manifest::read::<Manifest>(&dir.join(MANIFEST)).filter(|found| found.check().is_ok()) {
                let verdict = manifest::read(&dir.join(VERDICT)).map(|verdict| look_again(&dir, &found, verdict));
                kept.push(Backup::of(Manifest { name, ..found }, verdict));
            }
        }
        kept.sort_by(|a, b| b.name().cmp(a.name()));
        Ok(kept)
    }

    /// The folder of a finished backup.
    pub(super) fn find(&self, name: &str) -> Result<PathBuf> {
        let dir = self.dir.join(name);
        let is_there = is_name(name) && dir.join(MANIFEST).is_file();
        is_there.then_some(dir).ok_or_else(|| Code::BackupNotFound.into())
    }

    /// A folder of unfinished work on a backup.
    pub(super) fn aside(&self, name: &str, what: &str) -> PathBuf {
        self.dir.join(format!("{name}{what}"))
    }

    /// Makes the directory, if it is missing. Fails with `backup_dir_unusable` if no folder can be made in
    /// it.
    pub(super) fn make(&self) -> Result<()> {
        let trial = self.dir.join(TRIAL);
        let made = private_files::make_dirs(&self.dir).and_then(|()| private_files::make_dirs(&trial));
        made.and_then(|()| fs::remove_dir(trial)).map_err(|e| self.unusable(&e))
    }

    /// Turns the folder of unfinished work on a backup into the backup.
    pub(super) fn finish(&self, manifest: &mut Manifest) -> Result<()> {
        let part = self.aside(&manifest.name, PART);
        let mut finish = || {
            (manifest.files, manifest.bytes) = counted(&part)?;
            manifest::write(&part.join(MANIFEST), manifest)?;
            fs::rename(&part, self.dir.join(&manifest.name))?;
            private_files::flush_names(&self.dir)
        };
        let finished: io::Result<()> = finish();
        finished.map_err(|e| self.failed("a backup could not be finished", &e))
    }

    /// Writes the verdict of a verification.
    pub(super) fn judge(&self, name: &str, verdict: &Verdict) -> Result<()> {
        let file = self.find(name)?.join(VERDICT);
        manifest::write(&file, verdict).map_err(|e| self.failed("a verdict could not be written", &e))
    }

    /// When the newest backup began that was copied elsewhere, although it may be removed; 0 if there is none.
    pub(super) fn newest_copied(&self) -> Millis {
        manifest::read(&self.dir.join(COPIED)).unwrap_or_default()
    }

    /// Notes that a backup was copied elsewhere. Returns when the newest of these began.
    pub(super) fn note_copy(&self, name: &str) -> Result<Millis> {
        let backup = Manifest::of(&self.find(name)?).ok();
        let (known, copied) = (self.newest_copied(), backup.map_or(0, |backup| backup.begun_at));
        if copied > known {
            let written = manifest::write(&self.dir.join(COPIED), &copied);
            written.map_err(|e| self.failed("a copy could not be noted", &e))?;
        }
        Ok(known.max(copied))
    }

    /// Removes a backup. If that is interrupted, the rest does not pass for a backup.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        let (dir, gone) = (self.find(name)?, self.aside(name, GONE));
        let removed = fs::rename(dir, &gone).and_then(|()| {
            private_files::flush_names(&self.dir)?;
            failpoint::pass(Failpoint::BackupGone);
            fs::remove_dir_all(gone)
        });
        removed.map_err(|e| self.failed("a backup could not be removed", &e))
    }

    /// Removes folders of unfinished work, and of removed backups.
    pub(super) fn tidy(&self) -> Result<()> {
        for name in self.names()? {
            let is_left = [PART, GONE].iter().any(|end| name.strip_suffix(end).is_some_and(is_name));
            if is_left && fs::remove_dir_all(self.dir.join(&name)).is_ok() {
                tracing::info!(name, "the rest of an interrupted backup was removed");
            }
        }
        Ok(())
    }

    fn names(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|e| self.unusable(&e))?,
        };
        Ok(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    fn unusable(&self, error: &io::Error) -> Error {
        if error.kind() == io::ErrorKind::StorageFull {
            return self.failed("cannot be used", error);
        }
        let dir = self.dir.display();
        let detail = format_args!("the directory of backups {dir} cannot be used: {error}. See backup.dir");
        Error::refused(Code::BackupDirUnusable, detail)
    }

    fn failed(&self, what: &str, error: &io::Error) -> Error {
        let detail = format!("the directory of backups {}: {what}: {error}", self.dir.display());
        match error.kind() {
            io::ErrorKind::StorageFull => Error::refused(Code::NoRoom, detail),
            _ => Error::Storage(detail),
        }
    }
}

/// The directory of backups by the settings.
pub(super) fn place(dir: &Path, data_dir: &Path) -> PathBuf {
    if dir.as_os_str().is_empty() { data_dir.join("backups") } else { dir.to_owned() }
}

/// The verdict of a verification, or another if files are missing or have other sizes since then.
fn look_again(dir: &Path, manifest: &Manifest, verdict: Verdict) -> Verdict {
    let mut now = verdict.clone();
    match counted(dir) {
        // A backup that has just been removed is left out by the next list.
        Ok(found) if found == (manifest.files, manifest.bytes) => return verdict,
        Ok((files, bytes)) => now.add(format!(
            "after the verification its files were changed: it has {files} of {} files and {bytes} of {} bytes",
            manifest.files, manifest.bytes
        )),
        Err(error) => now.add(format!("its files cannot be listed: {error}")),
    }
    now
}

/// The files of a backup without its manifest, and their bytes.
fn counted(dir: &Path) -> io::Result<(u64, u64)> {
    let files = files(dir)?;
    let sizes = files.iter().filter(|(_, name, _)| name != MANIFEST).map(|(_, _, size)| *size);
    Ok((sizes.clone().count() as u64, sizes.sum()))
}

/// Whether a text has the form of a name.
fn is_name(text: &str) -> bool {
    let form = b"00000000T000000.000Z";
    let fits = |(found, form): (u8, u8)| if form == b'0' { found.is_ascii_digit() } else { found == form };
    text.len() == form.len() && text.bytes().zip(form.iter().copied()).all(fits)
}
