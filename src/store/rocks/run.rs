//! How the last run on a data directory ended: whether changes may be gone of which streams had told.
//!
//! With `sync` a stream tells of what is on the device, so an end of any kind takes nothing back. With `os` the end of the
//! process takes nothing back either, for the operating system has the changes; but the end of the machine does. The
//! two differ in the machine's boot, which has an id. And whatever the last run was, a directory that was put in place
//! of another, as from a backup, is of an earlier time than the clients are: it has another lock file.
//!
//! A file tells all this from one run to the next. Whatever it does not tell for sure counts as taken back: streams then
//! have their clients load the timeline once more, which is never wrong.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::UNIX_EPOCH;

use super::directory;

/// The file: one line, `<how> <boot> <lock>`.
const NAME: &str = "RUN";
/// Most bytes of it that are read.
const LONGEST: u64 = 256;
/// What becomes that file.
const FRESH: &str = "RUN.new";
/// Where Linux tells which boot of the machine this is. Elsewhere nobody tells.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
/// No boot that is known.
const UNKNOWN: &str = "-";

/// How a run goes, or has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Stopped in order, with all of it on the device.
    Stopped,
    /// Running, or ended in any way; each change was on the device before anybody was told of it.
    Sync,
    /// The same without that.
    Os,
}

const WORDS: [(How, &str); 3] = [(How::Stopped, "stopped"), (How::Sync, "sync"), (How::Os, "os")];

/// Which file it is, of all that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    /// May change with the next boot, or when a device is attached anew.
    device: u64,
    inode: u64,
    /// When it was made, nanoseconds since 1970; 0 where the file system does not say. An inode may be used again.
    born: u128,
}

/// This run, and what there is to know of the last one.
#[derive(Debug)]
pub(super) struct Run {
    dir: PathBuf,
    boot: String,
    /// The lock file of this directory.
    lock: Option<Identity>,
    set_back: bool,
    /// Whether the file tells of this run.
    begun: AtomicBool,
}

impl Run {
    /// Looks how the last run on a directory ended, which this process holds. It may have lost something all the same,
    /// or have been none.
    pub(super) fn look(dir: &Path, is_first: bool, loses: bool) -> Self {
        let boot = fs::read_to_string(BOOT).ok().and_then(|text| Some(text.split_whitespace().next()?.to_owned()));
        let boot = boot.unwrap_or_else(|| UNKNOWN.to_owned());
        let lock = identity(&directory::lock(dir)).ok();
        let mut said = String::new();
        // What does not read says nothing.
        let _ = File::open(dir.join(NAME)).and_then(|file| file.take(LONGEST).read_to_string(&mut said));
        let takes_nothing = lock.is_some_and(|lock| takes_nothing(&said, &boot, lock));
        let set_back = loses || !(is_first || takes_nothing);
        let run = Self { dir: dir.to_owned(), boot, lock, set_back, begun: AtomicBool::new(false) };
        if loses {
            // The next start may find a log that is whole again, and has to know all the same.
            let _ = run.forget();
        }
        run
    }

    /// Whether changes may be gone of which streams had told.
    pub(super) fn is_set_back(&self) -> bool {
        self.set_back
    }

    /// From now on streams are told of changes: of those on the device if `sync`. What the last run was is forgotten.
    pub(super) fn begin(&self, sync: bool) {
        let how = if sync { How::Sync } else { How::Os };
        if let Err(error) = self.write(how) {
            tracing::warn!(%error, "how this run ends cannot be written down; after it, clients of streams load their timelines again");
            // A full device has no room for another, and what it says is of the last run.
            let _ = self.forget();
        }
        self.begun.store(true, Ordering::Release);
    }

    /// All is on the device, and nothing comes any more.
    pub(super) fn stop(&self) {
        // Where nothing was told, the last run still counts.
        if self.begun.load(Ordering::Acquire)
            && let Err(error) = self.write(How::Stopped)
        {
            tracing::warn!(%error, "that this run ended in order cannot be written down");
        }
    }

    fn write(&self, how: How) -> io::Result<()> {
        let fresh = self.dir.join(FRESH);
        let mut file = File::create(&fresh)?;
        file.write_all(line(how, &self.boot, self.lock).as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, self.dir.join(NAME))?;
        self.flush_names()
    }

    /// Whatever the last run was, the next start finds that changes may be gone.
    fn forget(&self) -> io::Result<()> {
        fs::remove_file(self.dir.join(NAME)).and_then(|()| self.flush_names())
    }

    fn flush_names(&self) -> io::Result<()> {
        File::open(&self.dir)?.sync_all()
    }
}

/// What the file says.
fn line(how: How, boot: &str, lock: Option<Identity>) -> String {
    let word = WORDS.iter().find(|(known, _)| *known == how).map_or("", |(_, word)| word);
    // Without an identity it says nothing.
    let lock = lock.map(|Identity { device, inode, born }| format!("{device}:{inode}:{born}"));
    format!("{word} {boot} {}\n", lock.unwrap_or_default())
}

/// Whether nothing was taken back of what was told in the run of which a file says this, in this boot and with this
/// lock file.
fn takes_nothing(said: &str, boot: &str, lock: Identity) -> bool {
    let [word, its_boot, its_lock] = said.split_ascii_whitespace().collect::<Vec<_>>()[..] else { return false };
    let Some((how, _)) = WORDS.iter().find(|(_, known)| *known == word) else { return false };
    let numbers = its_lock.splitn(3, ':').map(|number| number.parse().ok()).collect::<Option<Vec<u128>>>();
    let Some([device, inode, born]) = numbers.as_deref() else { return false };
    let is_same_file = (*inode, *born) == (u128::from(lock.inode), lock.born);
    let is_same_device = *device == u128::from(lock.device);
    is_same_file
        && match how {
            How::Stopped => true,
            // A snapshot of a file system with everything in it is another device.
            How::Sync => is_same_device,
            How::Os => is_same_device && its_boot == boot && boot != UNKNOWN,
        }
}

fn identity(file: &Path) -> io::Result<Identity> {
    let metadata = file.metadata()?;
    let born = metadata.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Ok(Identity { device: metadata.dev(), inode: metadata.ino(), born: born.map_or(0, |since| since.as_nanos()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: Identity = Identity { device: 1, inode: 22, born: 333 };

    #[test]
    fn the_file_says_what_the_next_run_has_to_know() {
        assert_eq!(line(How::Os, "b-1", Some(LOCK)), "os b-1 1:22:333\n");
        let others = [Identity { inode: 23, ..LOCK }, Identity { born: 334, ..LOCK }];
        let other_device = Identity { device: 2, ..LOCK };
        for (how, another_boot, another_device) in
            [(How::Stopped, true, true), (How::Sync, true, false), (How::Os, false, false)]
        {
            let said = line(how, "b-1", Some(LOCK));
            assert!(takes_nothing(&said, "b-1", LOCK), "{said}");
            assert_eq!(takes_nothing(&said, "b-2", LOCK), another_boot, "{said}");
            assert_eq!(takes_nothing(&said, "b-1", other_device), another_device, "{said}");
            assert_eq!(others.map(|copy| takes_nothing(&said, "b-1", copy)), [false; 2], "{said}");
            for length in 0..said.len() - 1 {
                assert!(!takes_nothing(&said[..length], "b-1", LOCK), "{}", &said[..length]);
            }
        }
        assert!(!takes_nothing(&line(How::Os, UNKNOWN, Some(LOCK)), UNKNOWN, LOCK));
        for bad in
            ["os b-1", "gone b-1 1:22:333", "os b-1 1:22", "os b-1 1:22:333:4", "os b-1 1:22:333 x", "os b-1 a:b:c"]
        {
            assert!(!takes_nothing(bad, "b-1", LOCK), "{bad}");
        }
        assert!(!takes_nothing(&line(How::Stopped, "b-1", None), "b-1", LOCK));
    }

    #[test]
    fn a_run_finds_how_the_last_one_ended() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path();
        fs::write(directory::lock(path), "").expect("writes");
        let look = || Run::look(path, false, false);
        assert!(look().is_set_back(), "nothing says how it ended");
        assert!(!Run::look(path, true, false).is_set_back(), "there was none");
        look().stop();
        assert!(look().is_set_back(), "it told nothing");
        for sync in [true, false] {
            let run = look();
            run.begin(sync);
            assert_eq!(look().is_set_back(), look().boot == UNKNOWN && !sync, "killed");
            assert!(Run::look(path, false, true).is_set_back(), "but something is lost");
            assert!(look().is_set_back(), "also if the start that found it did not get further");
            run.stop();
            assert!(!look().is_set_back());
        }
        fs::remove_file(directory::lock(path)).expect("removes");
        assert!(look().is_set_back(), "no lock file");
        fs::write(directory::lock(path), "").expect("writes");
        // The file system may give the same inode again, and not say when it was made, or make it within the same tick.
        let (now, said) =
            (identity(&directory::lock(path)).expect("there"), fs::read_to_string(path.join(NAME)).expect("there"));
        assert_eq!(look().is_set_back(), !said.contains(&format!(" {}:{}:{}\n", now.device, now.inode, now.born)));
    }

    #[test]
    fn without_room_the_file_says_nothing_rather_than_something_else() {
        let dir = tempfile::tempdir().expect("temp dir");
        fs::write(directory::lock(dir.path()), "").expect("writes");
        Run::look(dir.path(), true, false).begin(true);
        // Nothing can be made under this name.
        fs::create_dir(dir.path().join(FRESH)).expect("makes");
        let run = Run::look(dir.path(), false, false);
        assert!(!run.is_set_back());
        run.begin(false);
        assert!(!dir.path().join(NAME).exists());
        run.stop();
        assert!(Run::look(dir.path(), false, false).is_set_back());
    }
}
