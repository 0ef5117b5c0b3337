//! The files of a backup that are not the store's: its manifest, and the verdict of its verification.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::Millis;

/// The file with a [`Manifest`].
pub(super) const MANIFEST: &str = "BACKUP";
/// The file with a [`Verdict`]; it is no part of what is restored.
pub(super) const VERDICT: &str = "VERDICT";
/// Most findings that are kept.
const MOST_FINDINGS: usize = 20;
/// Most bytes of a manifest.
pub(super) const LONGEST: u64 = 4096;

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
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The number of row changes when it began.
    pub sequence: u64,
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
    let fresh = file.with_extension("new");
    let mut writer = File::create(&fresh)?;
    writer.write_all(&serde_json::to_vec(value)?)?;
    writer.sync_all()?;
    fs::rename(&fresh, file)?;
    file.parent().map_or(Ok(()), |dir| File::open(dir)?.sync_all())
}
