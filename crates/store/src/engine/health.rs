//! Whether the storage takes writes: the handling of a full device.
//!
//! The engine recovers from a full device by itself, but roughly: a change may stand torn at the end of its log, and it
//! looks for room only every five seconds. So changes are refused before they reach the engine while little is free;
//! the rest is left for its write buffers and compactions. If the device refuses a write anyway, the engine's own
//! recovery is the second line.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rocksdb::ErrorKind;
use rustix::fs::{AtFlags, StatVfs};
use rustix::io::Errno;

use model::error::{Code, Error};

/// The engine's words for a full device.
pub(crate) const NO_ROOM: &str = "No space left on device";
/// A file that is in the data directory as long as it has its tables.
const CURRENT_OF_ENGINE: &str = "db/CURRENT";
/// The reason for a refusal without a directory.
const REMOVED: &str = "the data directory was removed while the server runs: stop the server, and restore a backup";
/// How long a look at the free room is valid if it found at least so much more than the least: no device takes more in this
/// time. With less, each change looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);
const NEAR: u64 = 64 << 20;
/// A device on which a write takes longer is stalled. Long in tests, for a busy machine.
const STALL: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 500 });
/// Most optional writes at once: a quarter of the threads that read.
const MOST_TOUCHING: u64 = 32;
/// At most this part of a small file system is kept free,
const SYSTEM_PART: u64 = 16;
/// but at least this many bytes, for the engine's largest write buffer and some more,
const ENGINE_NEEDS: u64 = 24 << 20;
/// unless that is more than this part of a tiny one.
const TINY_PART: u64 = 4;
/// How long a seal waits for the writes under way, and how often it looks.
const SEAL_PATIENCE: Duration = Duration::from_secs(10);
const SEAL_LOOK: Duration = Duration::from_millis(1);
/// After a refusal, changes are taken again when this part more than the least is free.
const MARGIN_PART: u64 = 8;

/// The storage's readiness to take writes, shared by all threads.
pub(crate) struct Health {
    /// The data directory, also after a move; `None` if it could not be opened.
    dir: Option<File>,
    /// Least free bytes, from the settings.
    pub(crate) min_free: u64,
    /// Least free bytes of this file system, by the last look.
    least: AtomicU64,
    started: Instant,
    /// When to look again, in milliseconds since the start.
    next_look: AtomicU64,
    /// The result of the last look.
    scarce: AtomicBool,
    free: AtomicU64,
    /// Writes that the engine has not answered yet, and the time when the first of them began or the last one ended, in
    /// milliseconds since the start.
    writing: AtomicU64,
    progress: AtomicU64,
    /// Optional writes under way, or about to begin.
    touching: AtomicU64,
    /// Whether writes fail at present; `failure` has the time of the first and their number.
    failing: AtomicBool,
    failure: Mutex<Option<Failure>>,
    /// Changes wait until the room that a start on a full device has used is reserved again.
    pub(crate) owes_room: AtomicBool,
    /// The free and the needed bytes at the last look for that room.
    room: AtomicU64,
    room_needed: AtomicU64,
    /// The engine takes no writes until it is opened again.
    ended: AtomicBool,
    /// Whether a look has found the directory with its tables. Tests keep them in memory.
    was_there: AtomicBool,
    /// The directory was removed: the engine writes into files that nobody finds again.
    removed: AtomicBool,
    /// No writes are taken, because a standby takes over.
    sealed: AtomicBool,
}

struct Failure {
    since: Instant,
    refused: u64,
    /// Whether the engine itself refused one of them.
    by_engine: bool,
    /// The reason for the last one.
    cause: String,
}

/// A write in the hands of the engine.
#[must_use = "the write ends when this is dropped"]
pub(crate) struct Writing<'a>(&'a Health);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.progress.store(self.0.now(), Ordering::SeqCst);
        self.0.writing.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An optional write, from before its locks.
#[must_use = "it ends when this is dropped"]
pub(crate) struct Touching<'a>(&'a Health);

impl Drop for Touching<'_> {
    fn drop(&mut self) {
        self.0.touching.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Permission to give a write to the engine.
#[derive(Debug)]
pub(crate) struct Admitted {
    /// Whether earlier writes had failed.
    tries: bool,
}

impl Health {
    /// For a data directory. Changes are refused while less than `min_free` bytes are free; 0 for never.
    pub(crate) fn new(dir: &Path, min_free: u64) -> Self {
        Self {
            // An error is ignored: it shows in plainer places.
            dir: File::open(dir).ok(),
            min_free,
            least: AtomicU64::new(min_free),
            started: Instant::now(),
            next_look: AtomicU64::new(0),
            scarce: AtomicBool::new(false),
            free: AtomicU64::new(u64::MAX),
            writing: AtomicU64::new(0),
            progress: AtomicU64::new(0),
            touching: AtomicU64::new(0),
            failing: AtomicBool::new(false),
            failure: Mutex::new(None),
            owes_room: AtomicBool::new(false),
            room: AtomicU64::new(0),
            room_needed: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            was_there: AtomicBool::new(false),
            removed: AtomicBool::new(false),
            sealed: AtomicBool::new(false),
        }
    }

    /// Refuses all writes from now on, and waits for those under way; false if one does not end for long.
    pub(crate) fn seal(&self) -> bool {
        self.sealed.store(true, Ordering::SeqCst);
        let began = Instant::now();
        while self.writing.load(Ordering::SeqCst) > 0 && began.elapsed() < SEAL_PATIENCE {
            std::thread::sleep(SEAL_LOOK);
        }
        self.writing.load(Ordering::SeqCst) == 0
    }

    /// Admits writes again.
    pub(crate) fn unseal(&self) {
        self.sealed.store(false, Ordering::SeqCst);
    }

    /// Fails if writes are refused because a standby takes over. To be asked after [`Health::begin`].
    pub(crate) fn unsealed(&self) -> Result<(), Error> {
        if self.sealed.load(Ordering::SeqCst) { Err(Code::HandingOver.into()) } else { Ok(()) }
    }

    /// Admits a write to the engine, or returns the error for it.
    pub(crate) fn admit(&self) -> Result<Admitted, Error> {
        if let Some(why) = self.owed() {
            return Err(self.count(&why, false));
        }
        let is_scarce = self.is_scarce();
        if self.removed.load(Ordering::Acquire) {
            return Err(self.count(REMOVED, false));
        }
        if !is_scarce {
            return Ok(Admitted { tries: self.failing.load(Ordering::Acquire) });
        }
        let (free, least) = (self.free.load(Ordering::Relaxed), self.least.load(Ordering::Relaxed));
        Err(self.count(&too_little(free, least, self.min_free), false))
    }

    /// Records the free and the needed bytes at the last look for the room of a start.
    pub(crate) fn set_owed(&self, free: u64, needed: u64) {
        self.room.store(free, Ordering::Relaxed);
        self.room_needed.store(needed, Ordering::Relaxed);
    }

    /// The reason, if changes wait for the room of a start.
    pub(crate) fn owed(&self) -> Option<String> {
        if !self.owes_room.load(Ordering::Acquire) {
            return None;
        }
        let (free, needed) = (self.room.load(Ordering::Relaxed), self.room_needed.load(Ordering::Relaxed));
        let (free, needed) = (free >> 20, needed.div_ceil(1 << 20));
        Some(format!(
            "{free} MiB are free; {needed} MiB must be free to create the file RESERVE, the reserved space for a start \
             on a full device"
        ))
    }

    /// Whether too little is free, by a new look at the file system or the last one. Looks for the directory, too.
    pub(crate) fn is_scarce(&self) -> bool {
        let Some(dir) = &self.dir else { return false };
        let (now, was_scarce) = (self.now(), self.scarce.load(Ordering::Relaxed));
        if now < self.next_look.load(Ordering::Relaxed) {
            return was_scarce;
        }
        // The engine replaces this file, but never removes it.
        match rustix::fs::statat(dir, CURRENT_OF_ENGINE, AtFlags::empty()) {
            Ok(_) => self.was_there.store(true, Ordering::Relaxed),
            Err(Errno::NOENT) if self.was_there.load(Ordering::Relaxed) => {
                self.ended.store(true, Ordering::Release);
                self.removed.store(true, Ordering::Release);
            }
            Err(_) => {}
        }
        let Ok(system) = rustix::fs::fstatvfs(dir) else { return was_scarce };
        let (free, all) = room(&system);
        let least = least(self.min_free, all);
        let is_near = free < least.saturating_add(NEAR);
        let scarce = is_scarce(free, least, was_scarce);
        self.free.store(free, Ordering::Relaxed);
        self.least.store(least, Ordering::Relaxed);
        self.scarce.store(scarce, Ordering::Relaxed);
        self.next_look.store(if is_near { 0 } else { now + LOOK_EVERY.as_millis() as u64 }, Ordering::Relaxed);
        scarce
    }

    /// Whether a write would reach the engine, and the last one succeeded.
    pub(crate) fn takes_writes(&self) -> bool {
        !self.is_failing()
            && !self.owes_room.load(Ordering::Acquire)
            && !self.is_scarce()
            && !self.removed.load(Ordering::Acquire)
            && !self.sealed.load(Ordering::SeqCst)
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Begins a write; it ends when the result is dropped.
    pub(crate) fn begin(&self) -> Writing<'_> {
        // The time first: a thread that sees the write also sees when it began.
        if self.writing.load(Ordering::SeqCst) == 0 {
            self.progress.store(self.now(), Ordering::SeqCst);
        }
        self.writing.fetch_add(1, Ordering::SeqCst);
        Writing(self)
    }

    /// Begins an optional write; `None` if it had better be left out.
    pub(crate) fn begin_touch(&self) -> Option<Touching<'_>> {
        let before = self.touching.fetch_add(1, Ordering::SeqCst);
        let touching = Touching(self);
        (before < MOST_TOUCHING && !self.is_stalled()).then_some(touching)
    }

    /// Whether the device has taken no write for a while: its file system may be frozen.
    pub(crate) fn is_stalled(&self) -> bool {
        self.writing.load(Ordering::SeqCst) > 0
            && self.now().saturating_sub(self.progress.load(Ordering::SeqCst)) > STALL.as_millis() as u64
    }

    /// Whether the last write was refused.
    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Acquire)
    }

    /// Why the last write was refused; `None` if it was not.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.failure.lock().as_ref().map(|failure| failure.cause.clone())
    }

    /// Records that a write succeeded. Logs the end of a failure. Only a write that began after the failure counts: an
    /// earlier one says nothing about the present.
    pub(crate) fn wrote(&self, admitted: &Admitted) {
        if !admitted.tries {
            return;
        }
        let mut failure = self.failure.lock();
        let ended = failure.take();
        self.failing.store(false, Ordering::Release);
        self.ended.store(false, Ordering::Release);
        drop(failure);
        if let Some(Failure { since, refused, .. }) = ended {
            let seconds = since.elapsed().as_secs();
            tracing::info!(seconds, refused, "the storage accepts writes again");
        }
    }

    /// Whether the engine takes no writes until it is opened again, as a change or a sample of figures has found. Does not wait.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Records an error of the engine. The engine recovers from a full device by itself, but from no other error: the
    /// half-done work blocks all later work. Returns whether this error is the first to tell that it has stopped.
    pub(crate) fn note(&self, error: &rocksdb::Error) -> bool {
        let is_passing = match error.kind() {
            ErrorKind::Corruption => false,
            ErrorKind::IOError => error.as_ref().contains(NO_ROOM),
            _ => true,
        };
        let is_first = !is_passing && !self.ended.swap(true, Ordering::AcqRel);
        if is_first {
            tracing::error!(
                cause = error.as_ref(),
                "the storage engine has stopped and accepts no writes; remove the cause, then restart the server"
            );
        }
        is_first
    }

    /// The error to return for a write that the engine refused.
    pub(crate) fn refused(&self, cause: &str) -> Error {
        self.count(cause, true)
    }

    /// Counts a refused write. Logs the first one. If little room was its cause, the first refusal by the engine is news.
    fn count(&self, cause: &str, by_engine: bool) -> Error {
        let mut failure = self.failure.lock();
        match failure.as_ref() {
            None => {
                tracing::error!(
                    cause,
                    "the storage accepts no writes; reads still work, changes are answered with 503"
                );
            }
            Some(present) if by_engine && !present.by_engine => {
                tracing::error!(cause, "the storage engine refuses writes as well");
            }
            Some(_) => {}
        }
        let first = || Failure { since: Instant::now(), refused: 0, by_engine, cause: String::new() };
        let present = failure.get_or_insert_with(first);
        present.refused += 1;
        cause.clone_into(&mut present.cause);
        present.by_engine |= by_engine;
        self.failing.store(true, Ordering::Release);
        drop(failure);
        unavailable()
    }
}

/// The free bytes of a file system, and all.
pub(crate) fn room(system: &StatVfs) -> (u64, u64) {
    (system.f_bavail.saturating_mul(system.f_frsize), system.f_blocks.saturating_mul(system.f_frsize))
}

/// Whether less than twice the least room is free at a path: what is kept for others is given up.
pub(crate) fn is_tight(path: &Path, min_free: u64) -> bool {
    rustix::fs::statvfs(path).as_ref().map(room).is_ok_and(|(free, all)| free < least(min_free, all).saturating_mul(2))
}

/// The error for a change that cannot be made now.
pub(crate) fn unavailable() -> Error {
    Code::StorageUnavailable.into()
}

/// The reason for a refusal: free and least bytes. `set` is the least of the settings.
fn too_little(free: u64, least: u64, set: u64) -> String {
    let lowered = if least < set { ", lowered for this small device" } else { "" };
    let (free, least) = (free >> 20, least.div_ceil(1 << 20));
    format!("{free} MiB are free; {least} MiB must be free (storage.min_free_mb{lowered})")
}

/// The bytes to keep free on a file system of `all` bytes.
pub(crate) fn least(min_free: u64, all: u64) -> u64 {
    min_free.min((all / SYSTEM_PART).max(ENGINE_NEEDS.min(all / TINY_PART)))
}

/// Whether too little is free; after it was, a margin has to be free as well.
fn is_scarce(free: u64, least: u64, was_scarce: bool) -> bool {
    let margin = if was_scarce { least / MARGIN_PART } else { 0 };
    free < least.saturating_add(margin)
}
