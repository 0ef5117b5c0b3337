//! The files of the log.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder of files that the engine needs no more.
pub(super) const ARCHIVE: &str = "archive";

/// The files of the log in a folder, by their numbers; none if there is no such folder.
pub(super) fn files(folder: &Path) -> io::Result<BTreeMap<u64, PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries?,
    };
    let mut files = BTreeMap::new();
    for entry in entries {
        let path = entry?.path();
        let number = path.file_stem().and_then(OsStr::to_str).and_then(|stem| stem.parse().ok());
        if let Some(number) = number.filter(|_| path.extension() == Some(OsStr::new("log"))) {
            files.insert(number, path);
        }
    }
    Ok(files)
}

/// The length of a file, bytes; 0 if it has disappeared meanwhile.
pub(super) fn length(file: &Path) -> u64 {
    file.metadata().map_or(0, |found| found.len())
}

/// The total length of the files that the engine needs, bytes.
pub(crate) fn log_bytes(engine: &Path) -> u64 {
    files(engine).unwrap_or_default().values().map(|file| length(file)).sum()
}

/// Removes the oldest files of the archive, until at most so many bytes are left. A file that cannot be removed stays.
pub(crate) fn trim_archive(engine: &Path, most: u64) {
    let files: Vec<_> = files(&engine.join(ARCHIVE)).unwrap_or_default().into_values().collect();
    let mut left: u64 = files.iter().map(|file| length(file)).sum();
    for file in files {
        if left <= most {
            return;
        }
        left -= length(&file);
        if let Err(error) = fs::remove_file(&file) {
            tracing::debug!(%error, "a file of the old log could not be removed");
        }
    }
}
