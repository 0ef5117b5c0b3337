//! The files of a backup that are not the store's: its manifest, and the verdict of its verification.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use model::{Millis, private_files};

/// The file with a [`Manifest`].
pub(super) const MANIFEST: &str = "BACKUP";
/// The file with a [`Verdict`]; it is no part of what is restored.
pub(super) const VERDICT: &str = "VERDICT";
/// The file, beside the backups, with the time when the newest backup began that was copied elsewhere.
pub(super) const COPIED: &str = "COPIED";
/// Most findings that are kept.
const MOST_FINDINGS: usize = 20;
/// Most bytes of a manifest.
pub(super) const LONGEST: u64 = 4096;

/// The last time that a name can have: the end of the year 9999.
const LAST: Millis = 253_402_300_799_999;

/// The facts of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name, from the time when it began.
    pub name: String,
    /// When it began: it has every change that was acknowledged before.
    pub begun_at: Millis,
    /// The time until it was on the device, milliseconds.
    pub took_ms: u64,
    /// The format of its data directory.
    pub format: u32,
    /// The version that took it.
    pub release: String,
    /// The number of its files, without this one.
    #[serde(default)]
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The number of row changes when it began.
    #[serde(default)]
    pub sequence: u64,
}

impl Manifest {
    /// That of the backup in a directory. Fails with [`io::ErrorKind::InvalidData`] if there is none.
    pub fn of(dir: &Path) -> io::Result<Self> {
        let none = || io::Error::new(io::ErrorKind::InvalidData, "it has no file BACKUP, so it is no backup");
        // The answer of a server has no `files`; a backup has some.
        read(&dir.join(MANIFEST)).filter(|manifest: &Self| manifest.files > 0).ok_or_else(none)
    }

    /// Fails with the reason if this program cannot have made it: its texts name files and are shown.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.begun_at > LAST || self.name != name(self.begun_at) {
            return Err("its name is not the time when it began");
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        let is_release = !self.release.is_empty() && self.release.chars().all(is_plain);
        is_release.then_some(()).ok_or("its version is not one of Tideline")
    }
}

/// The name of a backup that began at a time: `20261122T143000.123Z`. Names have the order of times.
pub(super) fn name(at: Millis) -> String {
    let time = humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(at)).to_string();
    time.replace(['-', ':'], "")
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Verdict {
    pub(super) verified_at: Millis,
    /// The number of disagreements; 0 for a good backup.
    pub(super) total: u64,
    /// The first of them, a line each.
    pub(super) findings: Vec<String>,
}

impl Verdict {
    pub(super) fn add(&mut self, line: String) {
        self.total += 1;
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(line);
        }
    }
}

/// Reads a file; `None` if it is missing or not of this kind.
pub(super) fn read<T: DeserializeOwned>(file: &Path) -> Option<T> {
    let length = file.metadata().ok()?.len();
    if length > LONGEST * MOST_FINDINGS as u64 {
        return None;
    }
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

/// Writes a file whole or not at all, and durably.
pub(super) fn write(file: &Path, value: &impl Serialize) -> io::Result<()> {
    private_files::replace_file(file, &serde_json::to_vec(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_facts_that_this_program_writes_are_taken() {
        let with = |name: &str, begun_at, release: &str| {
            let (name, release) = (name.to_owned(), release.to_owned());
            Manifest { name, begun_at, took_ms: 0, format: 3, release, files: 0, bytes: 0, sequence: 0 }.check()
        };
        for (at, version) in [(0, "0.1.0"), (1_795_357_800_123, "1.0.0-rc.1+x"), (LAST, "9")] {
            assert_eq!(with(&name(at), at, version), Ok(()));
        }
        for (bad, at) in
            [("/tmp/x", 0), ("..", 0), ("", 0), ("20261122T143000.123Z", 1), ("x", LAST + 1), ("x", u64::MAX)]
        {
            assert_eq!(with(bad, at, "0.1.0"), Err("its name is not the time when it began"), "{bad}");
        }
        for bad in ["", "\u{1b}[31m", "1 2"] {
            assert_eq!(with(&name(0), 0, bad), Err("its version is not one of Tideline"));
        }
    }
}
