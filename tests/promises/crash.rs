//! A copy of a data directory in use: the state for a restart after `kill -9` at that instant.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
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

/// The log that the engine writes to: the newest.
pub(crate) fn newest_log(dir: &Path) -> PathBuf {
    let names = files(&dir.join("db")).expect("listed").into_keys();
    dir.join("db").join(names.filter(|name| name.ends_with(".log")).max().expect("a log"))
}

/// The end of each write in the newest log of a store at rest, in bytes.
pub(crate) fn ends_of_writes(dir: &Path) -> Vec<u64> {
    let log = fs::read(newest_log(dir)).expect("readable");
    let ends = whole_writes(&log);
    assert_eq!(ends.last(), Some(&(log.len() as u64)), "the log is not as thought");
    ends
}

/// The end of each write in a log, in bytes. The last write may be there in part.
pub(crate) fn whole_writes(log: &[u8]) -> Vec<u64> {
    // A log consists of blocks of records. A record has a checksum, a length, a kind and bytes. The part that does not
    // fit in a block continues in the next.
    const BLOCK: usize = 32_768;
    const HEAD: usize = 7;
    const WHOLE: u8 = 1;
    const LAST: u8 = 4;
    let (mut ends, mut at) = (Vec::new(), 0);
    while at < log.len() {
        if BLOCK - at % BLOCK < HEAD {
            at = at.next_multiple_of(BLOCK);
            continue;
        }
        if log.len() - at < HEAD {
            break;
        }
        let (length, kind) = (u16::from_le_bytes([log[at + 4], log[at + 5]]), log[at + 6]);
        at += HEAD + usize::from(length);
        if matches!(kind, WHOLE | LAST) && at <= log.len() {
            ends.push(at as u64);
        }
    }
    ends
}

/// Truncates the newest log to this length, as on a device that the rest has not reached.
pub(crate) fn cut_log(dir: &Path, bytes: u64) {
    OpenOptions::new().write(true).open(newest_log(dir)).expect("opens").set_len(bytes).expect("cuts");
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
