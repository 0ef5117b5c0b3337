//! How far a standby is, for its HTTP server.

use std::time::Instant;

use parking_lot::Mutex;

use feed::standbys::Head;
use http::{StandbyState, StandbyStatus, Status};

/// The state, shared by the thread that follows and the HTTP server.
#[derive(Debug)]
pub(super) struct State {
    origin: String,
    now: Mutex<Now>,
}

#[derive(Debug)]
struct Now {
    state: StandbyState,
    has_copy: bool,
    row: u64,
    head: Option<Head>,
    whole_at: Option<Instant>,
    applied_bytes: u64,
    copies: u64,
    failures: u64,
    failure: Option<String>,
}

impl State {
    pub(super) fn new(origin: &str, has_copy: bool) -> Self {
        let state = if has_copy { StandbyState::Waiting } else { StandbyState::Copying };
        let now = Now {
            state,
            has_copy,
            row: 0,
            head: None,
            whole_at: None,
            applied_bytes: 0,
            copies: 0,
            failures: 0,
            failure: None,
        };
        Self { origin: origin.to_owned(), now: Mutex::new(now) }
    }

    pub(super) fn copies(&self) {
        self.now.lock().state = StandbyState::Copying;
    }

    pub(super) fn copied(&self) {
        let mut now = self.now.lock();
        now.copies += 1;
        now.has_copy = true;
    }

    /// The store is open, up to this row.
    pub(super) fn opened(&self, row: u64) {
        let mut now = self.now.lock();
        (now.row, now.has_copy) = (row, true);
    }

    /// The log comes.
    pub(super) fn follows(&self) {
        let mut now = self.now.lock();
        (now.state, now.failure) = (StandbyState::Following, None);
    }

    /// The server has told how much there is.
    pub(super) fn heard(&self, head: Head) {
        let mut now = self.now.lock();
        now.head = Some(head);
        now.note_whole();
    }

    /// Rows up to this one are on the device, after so many bytes of log.
    pub(super) fn applied(&self, row: u64, bytes: u64) {
        let mut now = self.now.lock();
        now.row = row;
        now.applied_bytes += bytes;
        if let Some(head) = &mut now.head {
            head.bytes = head.bytes.saturating_sub(bytes);
        }
        now.note_whole();
    }

    pub(super) fn row(&self) -> u64 {
        self.now.lock().row
    }

    pub(super) fn failed(&self, why: &str) {
        let mut now = self.now.lock();
        now.state = StandbyState::Waiting;
        now.failures += 1;
        now.failure = Some(why.to_owned());
    }

    pub(super) fn promotes(&self) {
        self.now.lock().state = StandbyState::Promoting;
    }
}

impl Now {
    fn note_whole(&mut self) {
        if self.head.is_some_and(|head| self.row >= head.flushed) {
            self.whole_at = Some(Instant::now());
        }
    }
}

impl Status for State {
    fn status(&self) -> StandbyStatus {
        let now = self.now.lock();
        let behind_rows = now.head.map_or(0, |head| head.flushed.saturating_sub(now.row));
        let is_whole = now.state == StandbyState::Following && now.head.is_some() && behind_rows == 0;
        let behind = now.whole_at.map(|at| at.elapsed().as_millis());
        StandbyStatus {
            state: now.state,
            origin: self.origin.clone(),
            has_copy: now.has_copy,
            row: now.row,
            behind_rows,
            behind_bytes: if behind_rows == 0 { 0 } else { now.head.map_or(0, |head| head.bytes) },
            behind_ms: if is_whole { Some(0) } else { behind.map(|ms| u64::try_from(ms).unwrap_or(u64::MAX)) },
            applied_bytes: now.applied_bytes,
            copies: now.copies,
            failures: now.failures,
            failure: now.failure.clone(),
        }
    }
}
