//! Standbys of this server: copies that they take, the write-ahead log that they read, and the hand-over to one of them.
//!
//! The server never waits for a standby. It keeps log for those that have called lately, up to a bound.

mod copies;
mod switch;
mod wire;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use utoipa::ToSchema;

use crate::store::Store;
use config::Config;
use kv::{LogFacts, LogReader};
use model::clock::now;
use model::error::{Code, Error, Result};
use model::{Millis, Time, is_topic, private_files, threads};

pub use self::copies::StandbyCopy;
pub use self::wire::{CopyFile, CopyPlan, CopyRequest, End, Frame, Head, PLAN};

use self::copies::Copies;
use self::switch::Switch;

/// Most standbys that are known at once.
const MOST: usize = 16;
/// Most standbys that follow at once.
const MOST_FOLLOWING: usize = 4;
/// The interval of the thread that ends what has not been asked for.
const TEND_EVERY: Duration = Duration::from_secs(1);
/// How long log is kept after a start, so that a standby can go on.
const AFTER_START: Duration = Duration::from_secs(600);
/// The file that is touched when a standby calls, at most every so often.
const SEEN: &str = "STANDBY_SEEN";
const SEE_EVERY: Duration = Duration::from_secs(60);

/// How far a standby is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = StandbyFigures)]
pub struct KnownStandby {
    /// Its name.
    pub name: String,
    /// Since when it follows; missing if it does not at present.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    pub following_since: Option<Millis>,
    /// When it last told how far it is.
    #[schema(value_type = Time)]
    pub seen_at: Millis,
    /// The last row of the log on its device.
    pub row: u64,
    /// Rows of the log that it lacks.
    pub behind_rows: u64,
    /// Bytes of the log that it was not sent yet, about.
    pub behind_bytes: u64,
    /// For how long it has lacked some, milliseconds; 0 if it has all.
    pub behind_ms: u64,
}

#[derive(Debug)]
struct Seen {
    /// The number of the stream that it follows by, and when that began.
    following: Option<(u64, Millis)>,
    seen_at: Millis,
    applied: u64,
    bytes_behind: u64,
    /// When it last had all rows.
    whole_at: Instant,
}

#[derive(Debug, Default)]
struct Calls {
    known: BTreeMap<String, Seen>,
    /// The times of the last call of a standby, and of the last note of one.
    last: Option<Instant>,
    written: Option<Instant>,
}

/// The standbys of this server.
#[derive(Debug)]
pub struct Standbys {
    data: PathBuf,
    keep: u64,
    keep_for: Duration,
    copies: Arc<Copies>,
    calls: Mutex<Calls>,
    switch: Switch,
    started: Instant,
    stopping: AtomicBool,
    /// The number of the next stream of the log.
    next: AtomicU64,
}

impl Standbys {
    /// Those of a data directory, by the settings. Touches nothing.
    pub fn new(config: &Config) -> Self {
        let data = config.storage.data_dir.clone();
        Self {
            copies: Arc::new(Copies::new(&data)),
            data,
            keep: (config.standby.keep_mb as u64) << 20,
            keep_for: config.standby.keep_for.get(),
            calls: Mutex::default(),
            switch: Switch::default(),
            started: Instant::now(),
            stopping: AtomicBool::new(false),
            next: AtomicU64::new(0),
        }
    }

    /// Removes what an earlier run has left, and from now on ends hand-overs and copies that are given up, and copies without room.
    pub fn resume(self: &Arc<Self>, store: &Arc<Store>) -> Result<()> {
        self.copies.tidy()?;
        // A standby called within this time before the start.
        let seen = fs::metadata(self.data.join(SEEN)).and_then(|found| found.modified()).ok();
        let ago = seen.and_then(|at| SystemTime::now().duration_since(at).ok());
        self.calls().last = ago.filter(|ago| *ago < self.keep_for).and_then(|ago| Instant::now().checked_sub(ago));
        self.keep_log(store);
        let (standbys, store): (_, Weak<Store>) = (Arc::downgrade(self), Arc::downgrade(store));
        let tend = move || {
            while let (Some(standbys), Some(store)) = (standbys.upgrade(), store.upgrade()) {
                if standbys.stopping.load(Ordering::Relaxed) {
                    return;
                }
                standbys.tend(&store);
                drop((standbys, store));
                std::thread::sleep(TEND_EVERY);
            }
        };
        threads::start("standbys", tend).map(drop)
    }

    /// Ends the thread soon. Does not wait.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock()
    }

    fn tend(&self, store: &Store) {
        self.end_old_seal(store);
        let has_room = self.keep_log(store);
        self.copies.end_old(has_room);
    }

    /// Whether the device has room for what is kept for standbys.
    fn keep_log(&self, store: &Store) -> bool {
        let called = self.calls().last.is_some_and(|at| at.elapsed() < self.keep_for);
        let bytes = if called || self.started.elapsed() < AFTER_START { self.keep } else { 0 };
        store.disk().map_or(true, |disk| disk.keep_log(bytes))
    }

    /// Notes that a standby has called, for the next start, too.
    fn note_call(&self, store: &Store) {
        let mut calls = self.calls();
        let is_first = calls.last.replace(Instant::now()).is_none();
        let is_due = calls.written.is_none_or(|written| written.elapsed() > SEE_EVERY);
        if is_due {
            calls.written = Some(Instant::now());
        }
        drop(calls);
        if is_due {
            // Without it the next start keeps log for a shorter time.
            let _ = private_files::replace_file(&self.data.join(SEEN), b"");
        }
        if is_first {
            self.keep_log(store);
        }
    }

    /// Lets a standby follow the log with this id behind a row.
    pub fn follow(self: &Arc<Self>, store: &Store, name: &str, log: u64, after: u64) -> Result<Following> {
        let state = store.disk()?.log_facts()?;
        if state.id != log {
            return Err(Error::refused(
                Code::LogGone,
                "the log is another one: this server was restored, or lost changes",
            ));
        }
        let reader = store.disk()?.read_log(after)?;
        self.note_call(store);
        let mut calls = self.calls();
        let known = &mut calls.known;
        // Its connection before may be lost without this server's knowledge.
        let others = known.iter().filter(|(other, seen)| *other != name && seen.following.is_some());
        if others.count() >= MOST_FOLLOWING {
            return Err(Code::Overloaded.into());
        }
        let seen = see(known, name)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (seen.following, seen.applied) = (Some((number, now())), after);
        tracing::info!(standby = name, row = after, "a standby follows");
        Ok(Following { standbys: Arc::clone(self), name: name.to_owned(), number, reader, state: Some(state) })
    }

    /// A standby has all rows up to this one on its device. Returns the last one here.
    pub fn report(&self, store: &Store, name: &str, applied: u64) -> Result<u64> {
        self.note_call(store);
        let flushed = store.disk()?.log_facts()?.flushed;
        let mut calls = self.calls();
        let known = &mut calls.known;
        let seen = see(known, name)?;
        (seen.applied, seen.seen_at) = (applied, now());
        if applied >= flushed {
            (seen.whole_at, seen.bytes_behind) = (Instant::now(), 0);
        }
        Ok(flushed)
    }

    /// All standbys that have called lately.
    pub fn list(&self, store: &Store) -> Result<Vec<KnownStandby>> {
        let mut calls = self.calls();
        let known = &mut calls.known;
        if known.is_empty() {
            return Ok(Vec::new());
        }
        let flushed = store.disk()?.log_facts()?.flushed;
        let oldest = now().saturating_sub(self.keep_for.as_millis() as Millis);
        known.retain(|_, seen| seen.following.is_some() || seen.seen_at >= oldest);
        let show = |(name, seen): (&String, &Seen)| KnownStandby {
            name: name.clone(),
            following_since: seen.following.map(|(_, since)| since),
            seen_at: seen.seen_at,
            row: seen.applied,
            behind_rows: flushed.saturating_sub(seen.applied),
            behind_bytes: seen.bytes_behind,
            behind_ms: if seen.applied >= flushed { 0 } else { seen.whole_at.elapsed().as_millis() as Millis },
        };
        Ok(known.iter().map(show).collect())
    }
}

/// The entry of a standby.
fn see<'a>(known: &'a mut BTreeMap<String, Seen>, name: &str) -> Result<&'a mut Seen> {
    if !is_topic(name) {
        return Err(Error::refused(Code::InvalidParameter, "standby: expected a name of 1 to 64 characters"));
    }
    if !known.contains_key(name) {
        if known.len() >= MOST {
            let oldest = known.iter().filter(|(_, seen)| seen.following.is_none()).min_by_key(|(_, seen)| seen.seen_at);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { return Err(Code::Overloaded.into()) };
            known.remove(&oldest);
        }
        let seen = Seen { following: None, seen_at: now(), applied: 0, bytes_behind: 0, whole_at: Instant::now() };
        known.insert(name.to_owned(), seen);
    }
    known.get_mut(name).ok_or_else(|| Code::Overloaded.into())
}

/// A standby that follows, until this is dropped.
#[derive(Debug)]
pub struct Following {
    standbys: Arc<Standbys>,
    name: String,
    number: u64,
    reader: LogReader,
    /// The first frame.
    state: Option<LogFacts>,
}

impl Following {
    /// The next frames, about so many bytes or one batch; empty if there are none now.
    pub fn read(&mut self, bytes: usize) -> Result<Vec<u8>> {
        let mut frames = Vec::new();
        if let Some(state) = self.state.take() {
            Frame::State(state).write(&[], &mut frames)?;
        }
        while frames.len() < bytes {
            let Some(batch) = self.reader.next()? else { break };
            Frame::Batch(batch.len()).write(&batch, &mut frames)?;
        }
        Ok(frames)
    }

    /// A frame that tells how much there is, also when nothing is new.
    pub fn head(&mut self) -> Result<Vec<u8>> {
        let head = Head { flushed: self.reader.flushed(), bytes: self.reader.left() };
        if let Some(seen) = self.standbys.calls().known.get_mut(&self.name) {
            seen.bytes_behind = head.bytes;
        }
        let mut frame = Vec::new();
        Frame::Head(head).write(&[], &mut frame)?;
        Ok(frame)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if let Some(seen) = self.standbys.calls().known.get_mut(&self.name)
            && seen.following.is_some_and(|(number, _)| number == self.number)
        {
            (seen.following, seen.seen_at) = (None, now());
        }
        tracing::info!(standby = self.name, row = self.reader.last(), "a standby follows no more");
    }
}
