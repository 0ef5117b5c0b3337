//! The lock of a data directory.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for the lock. A process that ends may not have released it yet, and a process that its holder is about to
/// start has a copy of it for a moment.
pub(super) const LOCK_WAIT: Duration = Duration::from_secs(1);

/// Locks a file by `lock`, and waits so long for another holder.
pub(super) fn lock_within(
    file: &File,
    longest: Duration,
    lock: fn(&File) -> Result<(), TryLockError>,
) -> Result<(), TryLockError> {
    let began = Instant::now();
    loop {
        match lock(file) {
            Err(TryLockError::WouldBlock) if began.elapsed() < longest => thread::sleep(Duration::from_millis(20)),
            tried => return tried,
        }
    }
}

/// The process that holds a lock, if the system tells: by the file's device and inode.
pub(super) fn holder(lock: &File) -> Option<u32> {
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

#[cfg(test)]
mod tests {
    use super::super::{Directory, lock};
    use super::*;

    #[test]
    fn a_lock_that_is_about_to_be_released_is_waited_for() {
        let dir = tempfile::tempdir().expect("temp dir");
        let held = Directory::claim(dir.path()).expect("claims");
        let releasing = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            drop(held);
        });
        let file = File::open(lock(dir.path())).expect("opens");
        lock_within(&file, Duration::from_secs(60), File::try_lock).expect("is released");
        releasing.join().expect("ends");
    }
}
