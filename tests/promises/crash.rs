//! A copy of a data directory in use: the state for a restart after `kill -9` at that instant.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use super::system::temp_dir;

const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(2);

/// Copies a directory at one instant; `None` if files change all the time.
pub(crate) fn copy_live(from: &Path) -> Option<TempDir> {
    for _ in 0..ATTEMPTS {
        let copy = temp_dir();
        if copy_once(from, copy.path()).unwrap_or(false) {
            return Some(copy);
        }
        std::thread::sleep(PAUSE);
    }
    None
}

/// Returns whether the copy is of one instant. The engine never changes a table file, and only appends to its log. So
/// the copy is right if neither the set of files nor the lengths of the others have changed.
fn copy_once(from: &Path, to: &Path) -> io::Result<bool> {
    fs::create_dir(to.join("db"))?;
    let before = files(&from.join("db"))?;
    fs::copy(from.join("FORMAT"), to.join("FORMAT"))?;
    for name in before.keys() {
        fs::copy(from.join("db").join(name), to.join("db").join(name))?;
    }
    Ok(files(&from.join("db"))? == before)
}

/// The files, with the lengths of those that ordinary writes do not change.
fn files(dir: &Path) -> io::Result<BTreeMap<String, u64>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().into_string().unwrap_or_default();
        if name == "LOCK" || name.starts_with("LOG") {
            continue;
        }
        let length = if name.ends_with(".log") { 0 } else { entry.metadata()?.len() };
        files.insert(name, length);
    }
    Ok(files)
}
