//! The lock of a data directory.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::engine::open_advice;
use model::error::{Error, Result};
use model::threads::try_for;

/// Longest wait for the lock. A process that ends may not have released it yet, and a process that its holder is about to
/// start has a copy of it for a moment.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(1);

/// Locks a directory for this process.
pub(crate) fn hold(path: &Path) -> Result<File> {
    let failed = |what: &str, error: io::Error| open_advice::failed(path, what, &error);
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(super::lock(path))
        .map_err(|e| failed("cannot open LOCK", e))?;
    match lock_within(&lock, LOCK_WAIT, File::try_lock) {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            let holder = holder(&lock).map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
            Err(Error::Setup(format!(
                "data directory {} is in use by {holder}. Stop that process, or choose another directory with \
                 --data-dir. A running server takes its backups itself: tideline backup --url",
                path.display()
            )))
        }
        Err(TryLockError::Error(error)) => Err(failed("cannot lock LOCK", error)),
    }
}

/// Locks a file by `lock`, and waits so long for another holder.
pub(super) fn lock_within(
    file: &File,
    longest: Duration,
    lock: fn(&File) -> std::result::Result<(), TryLockError>,
) -> std::result::Result<(), TryLockError> {
    let passes = |error: &TryLockError| matches!(error, TryLockError::WouldBlock);
    try_for(longest, Duration::from_millis(20), passes, || lock(file))
}

/// The process that holds a lock, if the system tells: by the file's device and inode.
fn holder(lock: &File) -> Option<u32> {
    let metadata = lock.metadata().ok()?;
    let (device, inode) = (metadata.dev(), metadata.ino());
    let file = format!("{:02x}:{:02x}:{inode}", rustix::fs::major(device), rustix::fs::minor(device));
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // `1: FLOCK  ADVISORY  WRITE 4711 00:25:1234 0 EOF`
    let mut holders = locks.lines().filter_map(|line| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        (words.get(5) == Some(&file.as_str())).then(|| words[4].parse().ok())?
    });
    // A process in another namespace has the number 0 here.
    holders.find(|pid| *pid > 0)
}
