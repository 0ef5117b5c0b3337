//! Whether the storage takes writes: the handling of a full device.
//!
//! The engine recovers from a full device by itself, but roughly: a change may stand torn at the end of its log, and it
//! looks for room only every five seconds. So changes are refused before they reach the engine while little is free;
//! the rest is left for its write buffers and compactions. If the device refuses a write anyway, the engine's own
//! recovery is the second line.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use rocksdb::{DB, ErrorKind};
use rustix::fs::{AtFlags, StatVfs};
use rustix::io::Errno;

use super::rebuild::Rebuild;
use super::stall::{Writes, Writing};
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
pub struct Health {
    /// The data directory, also after a move; `None` if it could not be opened.
    dir: Option<File>,
    /// Least free bytes, from the settings.
    pub(crate) min_free: u64,
    state: Mutex<State>,
    /// The engine takes no writes until it is opened again.
    ended: AtomicBool,
    /// The directory was removed: the engine writes into files that nobody finds again.
    removed: AtomicBool,
    /// No writes are taken, because a standby takes over.
    sealed: AtomicBool,
    pub(crate) writes: Writes,
}

/// Never locked during a call of the system: the device may be frozen.
struct State {
    look: Look,
    /// The free and the needed bytes, while changes wait until the room that a start on a full device has used is reserved again.
    owed: Option<(u64, u64)>,
    /// Set while writes fail.
    failure: Option<Failure>,
}

/// The result of the last look at the file system.
#[derive(Clone, Copy)]
pub(super) struct Look {
    /// When to look again; `None` for at once.
    next: Option<Instant>,
    free: u64,
    /// Least free bytes of this file system.
    least: u64,
    pub(super) is_scarce: bool,
    /// Whether a look has found the directory with its tables: a new one has none yet.
    was_there: bool,
}

struct Failure {
    since: Instant,
    refused: u64,
    /// Whether the engine itself refused one of them.
    by_engine: bool,
    /// The reason for the last one.
    cause: String,
}

/// Permission to give a write to the engine. The write counts as under way until this is dropped.
pub(crate) struct Admitted<'a> {
    health: &'a Health,
    /// Whether earlier writes had failed.
    tries: bool,
    _writing: Writing<'a>,
}

impl Admitted<'_> {
    /// Records that the write succeeded. Logs the end of a failure. Only a write that began after the failure counts: an
    /// earlier one says nothing about the present.
    pub(crate) fn succeeded(self) {
        if !self.tries {
            return;
        }
        let mut state = self.health.state();
        let ended = state.failure.take();
        self.health.ended.store(false, Ordering::Release);
        drop(state);
        if let Some(Failure { since, refused, .. }) = ended {
            let seconds = since.elapsed().as_secs();
            tracing::info!(seconds, refused, "the storage accepts writes again");
        }
    }
}

impl Health {
    /// For a data directory. Changes are refused while less than `min_free` bytes are free; 0 for never.
    pub(crate) fn new(dir: &Path, min_free: u64) -> Self {
        let (ended, removed, sealed) = Default::default();
        let look = Look { next: None, free: u64::MAX, least: min_free, is_scarce: false, was_there: false };
        // An error is ignored: it shows in plainer places.
        let dir = File::open(dir).ok();
        let state = Mutex::new(State { look, owed: None, failure: None });
        Self { dir, min_free, state, ended, removed, sealed, writes: Writes::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Refuses all writes from now on, and waits for those under way; false if one does not end for long.
    pub(crate) fn seal(&self) -> bool {
        self.sealed.store(true, Ordering::SeqCst);
        let began = Instant::now();
        while self.writes.are_under_way() && began.elapsed() < SEAL_PATIENCE {
            std::thread::sleep(SEAL_LOOK);
        }
        !self.writes.are_under_way()
    }

    /// Admits writes again.
    pub(crate) fn unseal(&self) {
        self.sealed.store(false, Ordering::SeqCst);
    }

    /// Begins a write that its caller can do without, until the result is dropped. Refused while the device stalls, or if some wait
    /// for it already.
    pub fn begin_optional(&self) -> Result<impl Drop + '_, Error> {
        self.writes.begin_optional().ok_or_else(unavailable)
    }

    /// Admits a write to the engine, or returns the error for it: `handing_over` if a standby takes over.
    pub(crate) fn admit(&self) -> Result<Admitted<'_>, Error> {
        if let Some(why) = self.owed() {
            return Err(self.count(&why, false));
        }
        let look = self.look();
        if self.removed.load(Ordering::Acquire) {
            return Err(self.count(REMOVED, false));
        }
        if look.is_scarce {
            return Err(self.count(&too_little(look.free, look.least, self.min_free), false));
        }
        let admitted = Admitted { health: self, tries: self.is_failing(), _writing: self.writes.begin() };
        // After its begin: a seal waits for it, or is seen here.
        if self.sealed.load(Ordering::SeqCst) { Err(Code::HandingOver.into()) } else { Ok(admitted) }
    }

    /// Changes wait for the room of a start from now on, with the free and the needed bytes; no more if there are none.
    pub(crate) fn set_owed(&self, owed: Option<(u64, u64)>) {
        self.state().owed = owed;
    }

    /// The reason, if changes wait for the room of a start.
    pub(crate) fn owed(&self) -> Option<String> {
        let (free, needed) = self.state().owed?;
        let (free, needed) = (free >> 20, needed.div_ceil(1 << 20));
        Some(format!(
            "{free} MiB are free; {needed} MiB must be free to create the file RESERVE, the reserved space for a start \
             on a full device"
        ))
    }

    /// Looks whether too little is free, and whether the directory is still there, unless the last look was just now.
    pub(super) fn look(&self) -> Look {
        let (now, last) = (Instant::now(), self.state().look);
        let Some(dir) = self.dir.as_ref().filter(|_| last.next.is_none_or(|next| next <= now)) else { return last };
        let mut look = last;
        // The engine replaces this file, but never removes it.
        match rustix::fs::statat(dir, CURRENT_OF_ENGINE, AtFlags::empty()) {
            Ok(_) => look.was_there = true,
            Err(Errno::NOENT) if last.was_there => {
                self.ended.store(true, Ordering::Release);
                self.removed.store(true, Ordering::Release);
            }
            Err(_) => {}
        }
        if let Ok(system) = rustix::fs::fstatvfs(dir) {
            let (free, all) = room(&system);
            (look.free, look.least) = (free, least(self.min_free, all));
            look.is_scarce = is_scarce(free, look.least, last.is_scarce);
            look.next = (free >= look.least.saturating_add(NEAR)).then(|| now + LOOK_EVERY);
        }
        self.state().look = look;
        look
    }

    /// Whether a write would reach the engine, and the last one succeeded.
    pub(crate) fn takes_writes(&self) -> bool {
        !self.is_failing()
            && self.state().owed.is_none()
            && !self.look().is_scarce
            && !self.removed.load(Ordering::Acquire)
            && !self.sealed.load(Ordering::SeqCst)
    }

    /// Whether the last write was refused.
    pub(crate) fn is_failing(&self) -> bool {
        self.state().failure.is_some()
    }

    /// Why the last write was refused; `None` if it was not.
    pub fn refusal(&self) -> Option<String> {
        self.state().failure.as_ref().map(|failure| failure.cause.clone())
    }

    /// Whether the engine takes no writes until it is opened again, as a change or a sample of figures has found. Does not wait.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Records an error of the engine. The engine recovers from a full device by itself, but from no other error: the
    /// half-done work blocks all later work. The first other error may lead to a rebuild at the next start.
    pub(crate) fn note(&self, db: &DB, rebuild: Option<&Rebuild>, error: &rocksdb::Error) {
        let is_passing = match error.kind() {
            ErrorKind::Corruption => false,
            ErrorKind::IOError => error.as_ref().contains(NO_ROOM),
            _ => true,
        };
        if is_passing || self.ended.swap(true, Ordering::AcqRel) {
            return;
        }
        tracing::error!(
            cause = error.as_ref(),
            "the storage engine has stopped and accepts no writes; remove the cause, then restart the server"
        );
        if let Some(rebuild) = rebuild {
            rebuild.tell_if_due(db, error.as_ref());
        }
    }

    /// The error to return for a write that the engine refused.
    pub(crate) fn refused(&self, cause: &str) -> Error {
        self.count(cause, true)
    }

    /// Counts a refused write. Logs the first one. If little room was its cause, the first refusal by the engine is news.
    fn count(&self, cause: &str, by_engine: bool) -> Error {
        let mut state = self.state();
        let news = match state.failure.as_ref() {
            None => Some("the storage accepts no writes; reads still work, changes are answered with 503"),
            Some(present) if by_engine && !present.by_engine => Some("the storage engine refuses writes as well"),
            Some(_) => None,
        };
        let first = || Failure { since: Instant::now(), refused: 0, by_engine, cause: String::new() };
        let present = state.failure.get_or_insert_with(first);
        present.refused += 1;
        cause.clone_into(&mut present.cause);
        present.by_engine |= by_engine;
        drop(state);
        if let Some(news) = news {
            tracing::error!(cause, "{news}");
        }
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
