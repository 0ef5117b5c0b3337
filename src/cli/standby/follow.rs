//! The thread of a standby: it copies, follows the log, and tries again with growing pauses.

use std::io::{BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::copy;
use super::origin::Origin;
use super::state::{NEVER_WHOLE, State};
use crate::prelude::*;
use feed::standbys::{Frame, Head};
use feed::store::{Options, Rules};
use http::StandbyState;
use kv::{Schema, Standby, StandbyDirectory};

/// The pauses between attempts: they double.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// How often a pause looks for its end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Bytes of the log in memory, besides one batch.
const BUFFER: usize = 256 << 10;
/// Bytes of log that are flushed together, at most.
const GROUP: u64 = 1 << 20;
/// How long a switch waits for the last row.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// How often it is written down that the standby has all.
const NOTE_EVERY: Duration = Duration::from_secs(60);
/// How often the end of a hand-over is told if no good answer comes, and the pause between.
const TOLD: u32 = 5;
const TELL_EVERY: Duration = Duration::from_secs(1);

/// A standby that follows.
pub(super) struct Follower {
    directory: StandbyDirectory,
    options: kv::Options,
    schema: Arc<dyn Schema>,
    origin: Origin,
    state: Arc<State>,
    /// Open while the log is followed. Locked while the directory changes.
    store: Mutex<Option<Standby>>,
    /// When the directory says that it last had all rows.
    noted: Mutex<Option<Millis>>,
    is_closed: AtomicBool,
}

impl Follower {
    /// Starts the thread.
    pub(super) fn start(directory: StandbyDirectory, options: &Options, origin: Origin) -> Result<Arc<Self>> {
        let (schema, options): (Arc<dyn Schema>, _) = (Arc::new(Rules::new(options)), options.engine.clone());
        let known = directory.origin()?;
        let state = Arc::new(State::new(&known));
        let (store, noted, is_closed) = (Mutex::new(None), Mutex::new(known.whole_at), AtomicBool::new(false));
        let follower = Arc::new(Self { directory, options, schema, origin, state, store, noted, is_closed });
        let worker = Arc::clone(&follower);
        threads::start("follow", move || worker.work())?;
        Ok(follower)
    }

    pub(super) fn state(&self) -> Arc<State> {
        Arc::clone(&self.state)
    }

    /// The last row, if the standby can take over. Not while its server serves, unless by `force`; and not while it is known
    /// to lack rows, unless that loss is accepted.
    pub(super) fn last_row(&self, force: bool, accept_loss: bool) -> Result<u64> {
        let Self { origin, state, .. } = self;
        let status = state.status();
        if !status.has_copy {
            return Err(Error::Setup("the standby has no whole copy of its server yet".to_owned()));
        }
        if !force && origin.serves() {
            return Err(Error::Setup(format!(
                "the server {} answers, and takes changes that no standby would have then. Stop it, or let it hand over with \
                 --switch; --force takes over all the same",
                status.origin
            )));
        }
        if let Some(lack) = state.lack().filter(|_| !accept_loss) {
            return Err(Error::Setup(format!(
                "the standby is known to lack changes: {lack}. --accept-loss takes over without them"
            )));
        }
        state.note(|status| status.state = StandbyState::Promoting);
        Ok(status.row)
    }

    /// Lets the server hand over. Returns the last row of both. If it fails, the server goes on.
    pub(super) fn switch(&self) -> Result<u64> {
        let Self { origin, state, .. } = self;
        if state.status().state != StandbyState::Following {
            return Err(Error::Setup("the standby does not follow its server at present".to_owned()));
        }
        let seal = origin.seal()?;
        let row = seal.row;
        tracing::info!(row, "the server takes no changes; the standby goes to its last row");
        let began = Instant::now();
        while state.row() < row && began.elapsed() < TIME_LIMIT && !self.is_closed() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let present = state.row();
        if present != row {
            let _ = origin.unseal();
            return Err(Error::Setup(format!("the standby came to row {present} in time, and the server is at {row}")));
        }
        for attempt in 1..=TOLD {
            match origin.hand_over(&seal) {
                Ok(()) => {
                    state.note(|status| status.state = StandbyState::Promoting);
                    return Ok(row);
                }
                Err(error) if error.code() == Some(Code::NotHandingOver) => return Err(error),
                Err(error) => tracing::warn!(attempt, %error, "the server does not confirm the hand-over"),
            }
            std::thread::sleep(TELL_EVERY);
        }
        // Refused once it has ended.
        Err(Error::Setup(match origin.unseal() {
            Ok(()) => "the server did not hand over, and takes changes again".to_owned(),
            Err(_) => {
                "the server does not confirm the hand-over, so it is not known whether it takes changes. Once it is \
                       gone, or refuses changes, promote the standby without --switch: it has all changes"
                    .to_owned()
            }
        }))
    }

    /// Ends the thread soon, and closes the store.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.note_whole(true);
        drop(self.store.lock().take());
    }

    /// Makes the closed directory one of its own.
    pub(super) fn promote(self: Arc<Self>, goes_on: bool) -> Result<()> {
        // The thread may wait for the network, and does not touch the directory any more.
        let (began, mut follower) = (Instant::now(), self);
        loop {
            match Arc::try_unwrap(follower) {
                Ok(Self { directory, .. }) => return directory.promote(goes_on),
                Err(still) if began.elapsed() < TIME_LIMIT => follower = still,
                Err(_) => return Err(Error::Setup("the standby did not stop; run tideline promote".to_owned())),
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    fn work(&self) {
        let (mut pause, mut needs_copy) = (FIRST_PAUSE, false);
        while !self.is_closed() {
            let before = self.state.row();
            let failed = match self.attempt(&mut needs_copy) {
                Ok(()) => continue,
                Err(error) => error,
            };
            if self.is_closed() {
                return;
            }
            let code = failed.code();
            if code == Some(Code::LogGone) || matches!(failed, Error::Corrupt(_)) {
                needs_copy = true;
                self.state.note(|status| status.incomplete = Some(format!("it needs a new copy: {failed}")));
            }
            self.note_whole(true);
            if self.state.row() > before || code == Some(Code::LogGone) {
                pause = FIRST_PAUSE;
            }
            tracing::warn!(error = %failed, pause_ms = pause.as_millis() as u64, needs_copy,
                "the standby tries again after a pause");
            self.state.note(|status| {
                (status.state, status.failure) = (StandbyState::Waiting, Some(failed.to_string()));
                status.failures += 1;
            });
            let until = Instant::now() + pause;
            while Instant::now() < until && !self.is_closed() {
                std::thread::sleep(LOOK_EVERY);
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Follows until the connection ends. Makes a copy before, if one is needed.
    fn attempt(&self, needs_copy: &mut bool) -> Result<()> {
        if *needs_copy || self.directory.origin()?.log.is_none() {
            self.copy()?;
            *needs_copy = false;
        }
        let log = self.directory.origin()?.log.ok_or_else(|| Error::Setup("there is no copy".to_owned()))?;
        let after = self.open()?;
        let stream = self.origin.follow(log, after)?;
        self.follow(&mut BufReader::with_capacity(BUFFER, stream))
    }

    /// Makes a new copy, in place of the present one.
    fn copy(&self) -> Result<()> {
        self.state.note(|status| status.state = StandbyState::Copying);
        let tell = |head| self.state.heard(head);
        let make = || {
            let (directory, needs) = (&self.directory, (self.options.min_free, &*self.schema));
            copy::make(directory, &self.origin, needs, &tell, &|| self.is_closed())
        };
        // A whole one that could not take its place before does so now.
        let made = if self.directory.has_whole_copy() { None } else { Some(make()?) };
        let mut store = self.store.lock();
        if self.is_closed() {
            return Err(Code::Stopping.into());
        }
        drop(store.take());
        let mut noted = self.noted.lock();
        match made {
            Some(log) => self.directory.finish_copy(log)?,
            None => self.directory.take_place()?,
        }
        *noted = None;
        self.state.note(|status| {
            (status.has_copy, status.incomplete) = (true, Some(NEVER_WHOLE.to_owned()));
            status.copies += 1;
        });
        Ok(())
    }

    /// Opens the store if it is closed. Returns its last row.
    fn open(&self) -> Result<u64> {
        let mut store = self.store.lock();
        if self.is_closed() {
            return Err(Code::Stopping.into());
        }
        let opened = match store.take().filter(|opened| !opened.needs_restart()) {
            Some(opened) => opened,
            None => Standby::open(&self.directory, &self.options, &self.schema)?,
        };
        let row = opened.sequence();
        *store = Some(opened);
        self.state.note(|status| (status.row, status.has_copy) = (row, true));
        Ok(row)
    }

    /// Works on the open store.
    fn with_store<T>(&self, work: impl FnOnce(&Standby) -> Result<T>) -> Result<T> {
        let store = self.store.lock();
        store.as_ref().filter(|_| !self.is_closed()).map_or_else(|| Err(Code::Stopping.into()), work)
    }

    fn follow(&self, stream: &mut BufReader<impl Read>) -> Result<()> {
        let cut = || Error::Setup("the server has ended the stream of its log".to_owned());
        let mut bytes = 0;
        loop {
            let (frame, batch) = Frame::read(stream).context("the stream of the log")?.ok_or_else(cut)?;
            match frame {
                Frame::State(state) => {
                    Standby::can_follow(&state, &*self.schema)?;
                    self.with_store(|store| store.has_tables(&state.tables))?;
                    tracing::info!(server_row = state.flushed, row = self.state.row(), "the standby follows");
                    self.state.note(|status| (status.state, status.failure) = (StandbyState::Following, None));
                    self.state.heard(Head { flushed: state.flushed, bytes: 0 });
                }
                Frame::Head(head) => {
                    self.state.heard(head);
                    self.flush(&mut bytes)?;
                    if let Err(error) = self.origin.report(self.state.row()) {
                        tracing::debug!(%error, "the server was not told how far the standby is");
                    }
                }
                Frame::End(end) => return Err(Origin::ended(&end)),
                Frame::Batch(_) => {
                    self.with_store(|store| store.apply(&batch))?;
                    bytes += batch.len() as u64;
                    if bytes >= GROUP || stream.buffer().is_empty() {
                        self.flush(&mut bytes)?;
                    }
                }
            }
        }
    }

    /// Makes the rows durable that were applied from so many bytes.
    fn flush(&self, bytes: &mut u64) -> Result<()> {
        let row = self.with_store(|store| store.flush().map(|()| store.sequence()))?;
        self.state.applied(row, std::mem::take(bytes));
        self.note_whole(false);
        Ok(())
    }

    /// Writes down for the next start when the standby last had all rows, or at the end of an attempt that it is known to
    /// lack some.
    fn note_whole(&self, is_end: bool) {
        let Some(whole_at) = self.state.whole_at() else { return };
        let mut noted = self.noted.lock();
        let is_due = match (*noted, whole_at) {
            (Some(before), Some(now)) => now.saturating_sub(before) > NOTE_EVERY.as_millis() as Millis,
            (before, now) => before != now && (is_end || now.is_some()),
        };
        if is_due {
            match self.directory.note_whole(whole_at) {
                Ok(()) => *noted = whole_at,
                Err(error) => tracing::warn!(%error, "it could not be written down whether the standby has all rows"),
            }
        }
    }
}
