//! The end of the last run on a data directory: whether changes that streams have announced may be lost.
//!
//! With `sync`, streams announce only changes on the device, so no end of a run loses any. With `os`, the operating
//! system has the changes when the process ends, but loses them when the machine fails. The id of the machine's boot
//! tells the two apart. A directory put in place of another, such as a backup, is older than the state of the clients;
//! its lock file is another one.
//!
//! A file passes all this from run to run. If it leaves a doubt, changes count as lost: clients of streams then load
//! the timeline once more, which is never wrong.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use super::directory;
use model::private_files;

/// The file: one line, `<how> <boot> <lock> <log>`.
pub(crate) const NAME: &str = "RUN";
/// Most bytes read of it.
const LONGEST: u64 = 256;
/// The id of this boot of the machine, on Linux only.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
/// Stands for an unknown boot.
const UNKNOWN: &str = "-";

/// The states of a run: stopped in order, with all changes on the device;
const STOPPED: &str = "stopped";
/// running, or ended in any way, where each change was announced after it was on the device;
const SYNC: &str = "sync";
/// or where a change may be announced before it is on the device.
const OS: &str = "os";

/// Tells a file from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    /// May change with the next boot, or when a device is attached anew.
    device: String,
    /// The inode, which may be used again, and the time of birth, nanoseconds since 1970; 0 if the file system has none.
    file: String,
}

/// This run, and the end of the last one.
#[derive(Debug)]
pub struct Run {
    dir: PathBuf,
    boot: String,
    /// The lock file of this directory.
    lock: Option<Identity>,
    /// The id of the log. It goes on from run to run until changes may be lost.
    log: u64,
    set_back: bool,
    /// The state of this run while it announces changes.
    announcing: &'static str,
    /// Whether the file describes this run.
    begun: AtomicBool,
}

impl Run {
    /// Finds out how the last run on a directory ended. This process holds the directory. `is_first` if there was no
    /// last run, `loses` if this start loses changes in any case, `syncs` if each change is on the device before it is announced.
    pub(crate) fn look(dir: &Path, is_first: bool, loses: bool, syncs: bool) -> Self {
        let boot = fs::read_to_string(BOOT).ok().and_then(|text| Some(text.split_whitespace().next()?.to_owned()));
        let boot = boot.unwrap_or_else(|| UNKNOWN.to_owned());
        let lock = identity(&directory::lock(dir)).ok();
        let mut said = String::new();
        // A file that cannot be read says nothing.
        let _ = File::open(dir.join(NAME)).and_then(|file| file.take(LONGEST).read_to_string(&mut said));
        let known = lock.as_ref().and_then(|lock| whole_log(&said, &boot, lock));
        let set_back = loses || !(is_first || known.is_some());
        let log = known.filter(|_| !set_back).unwrap_or_else(|| fastrand::u64(..));
        let announcing = if syncs { SYNC } else { OS };
        let begun = AtomicBool::new(false);
        let run = Self { dir: dir.to_owned(), boot, lock, log, set_back, announcing, begun };
        if loses {
            // The next start may find a whole log again, but must know about the loss.
            let _ = run.forget();
        }
        run
    }

    /// Whether changes that streams have announced may be lost.
    pub fn is_set_back(&self) -> bool {
        self.set_back
    }

    /// The id of the log: two directories with the same one, whose logs have come to the same row, have the same rows.
    pub(crate) fn log(&self) -> u64 {
        self.log
    }

    /// A directory whose changes all came from the log with this id, and which has lost none of them: the next start goes
    /// on where that log ended.
    pub(crate) fn went_on(dir: &Path, log: u64) -> io::Result<()> {
        Self { log, ..Self::look(dir, true, false, true) }.write(STOPPED)
    }

    /// Records that changes are announced from now on; until then the record of the last run is kept.
    pub fn begin(&self) {
        if let Err(error) = self.write(self.announcing) {
            tracing::warn!(%error,
                "the state of this run could not be recorded; after the next start, clients that resume a stream get a \
                 reset");
            // A full device has no room for a new file, and the present one describes the last run.
            let _ = self.forget();
        }
        self.begun.store(true, Ordering::Release);
    }

    /// Call when all changes are on the device and no more will come.
    pub(crate) fn stop(&self) {
        // If nothing was announced, the last run still counts.
        if self.begun.load(Ordering::Acquire)
            && let Err(error) = self.write(STOPPED)
        {
            tracing::warn!(%error,
                "the orderly end of this run could not be recorded; after the next start, clients that resume a stream \
                 may get a reset");
        }
    }

    fn write(&self, how: &str) -> io::Result<()> {
        private_files::replace_file(
            &self.dir.join(NAME),
            line(how, &self.boot, self.lock.as_ref(), self.log).as_bytes(),
        )
    }

    /// Makes the next start find that changes may be lost.
    fn forget(&self) -> io::Result<()> {
        forget(&self.dir)
    }
}

/// Makes the next start of a directory find that changes may be lost.
pub(crate) fn forget(dir: &Path) -> io::Result<()> {
    private_files::remove_file(&dir.join(NAME))
}

/// The content of the file.
fn line(how: &str, boot: &str, lock: Option<&Identity>, log: u64) -> String {
    // Without an identity the line says nothing.
    let lock = lock.map(|Identity { device, file }| format!("{device}:{file}"));
    format!("{how} {boot} {} {log:016x}\n", lock.unwrap_or_default())
}

/// The id of the log in `said`, the line of the last run; `None` if that run may have lost changes that it announced. `boot`
/// and `lock` are those of the present start.
fn whole_log(said: &str, boot: &str, lock: &Identity) -> Option<u64> {
    let words: Vec<_> = said.split_ascii_whitespace().collect();
    let [how, its_boot, its_lock, log] = words[..] else { return None };
    let (device, file) = its_lock.split_once(':')?;
    let is_whole = match how {
        STOPPED => true,
        // A snapshot of a whole file system is another device.
        SYNC => device == lock.device,
        OS => device == lock.device && its_boot == boot && boot != UNKNOWN,
        _ => false,
    };
    let id = u64::from_str_radix(log, 16).ok().filter(|id| format!("{id:016x}") == log);
    id.filter(|_| is_whole && file == lock.file)
}

fn identity(file: &Path) -> io::Result<Identity> {
    let metadata = file.metadata()?;
    let born = metadata.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let file = format!("{}:{}", metadata.ino(), born.map_or(0, |since| since.as_nanos()));
    Ok(Identity { device: metadata.dev().to_string(), file })
}
