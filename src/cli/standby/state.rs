//! How far a standby is, for its HTTP server.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use feed::standbys::Head;
use http::{StandbyState, StandbyStatus};
use kv::Origin;
use model::{Millis, clock};

/// Why a copy is not whole before the standby has caught up.
pub(super) const NEVER_WHOLE: &str = "it has not had all changes since its copy";

/// The state, shared by the thread that follows and the HTTP server.
#[derive(Debug)]
pub(super) struct State(Mutex<Now>);

#[derive(Debug)]
struct Now {
    /// Without how far it is behind.
    status: StandbyStatus,
    /// The last word of the server in this run.
    head: Option<Head>,
    /// When it last had all rows; the begin of the run before.
    whole_at: Instant,
}

impl State {
    pub(super) fn new(known: &Origin) -> Self {
        let has_copy = known.log.is_some();
        let started = Instant::now();
        let ago = known.whole_at.map(|at| Duration::from_millis(clock::now().saturating_sub(at)));
        let status = StandbyStatus {
            state: if has_copy { StandbyState::Waiting } else { StandbyState::Copying },
            origin: known.url.clone(),
            has_copy,
            incomplete: known.whole_at.is_none().then(|| NEVER_WHOLE.to_owned()),
            ..StandbyStatus::default()
        };
        let whole_at = ago.and_then(|ago| started.checked_sub(ago)).unwrap_or(started);
        Self(Mutex::new(Now { status, head: None, whole_at }))
    }

    /// Notes what has happened, all but what follows from the words of the server.
    pub(super) fn note(&self, change: impl FnOnce(&mut StandbyStatus)) {
        change(&mut self.0.lock().status);
    }

    /// Why it is known to lack rows of its server; `None` if it is not.
    pub(super) fn lack(&self) -> Option<String> {
        let now = self.0.lock();
        let behind = now.behind_rows().filter(|rows| *rows > 0);
        let behind = behind.map(|rows| format!("it lacks {rows} rows, by the last word of its server"));
        now.status.incomplete.clone().or(behind)
    }

    /// The time when it last had all rows, for the next start; `None` if it is known to lack some. Nothing while the server has
    /// not said a word in this run.
    pub(super) fn whole_at(&self) -> Option<Option<Millis>> {
        let lacks = self.lack().is_some();
        let now = self.0.lock();
        let ago = now.whole_at.elapsed().as_millis() as Millis;
        let at = clock::now().saturating_sub(ago);
        (lacks || now.head.is_some()).then_some((!lacks).then_some(at))
    }

    /// The server has told how much there is.
    pub(super) fn heard(&self, head: Head) {
        let mut now = self.0.lock();
        now.head = Some(head);
        now.note_whole();
    }

    /// Rows up to this one are on the device, after so many bytes of log.
    pub(super) fn applied(&self, row: u64, bytes: u64) {
        let mut now = self.0.lock();
        now.status.row = row;
        now.status.applied_bytes += bytes;
        if let Some(head) = &mut now.head {
            head.bytes = head.bytes.saturating_sub(bytes);
        }
        now.note_whole();
    }

    pub(super) fn row(&self) -> u64 {
        self.0.lock().status.row
    }

    /// How far it is now.
    pub(super) fn status(&self) -> StandbyStatus {
        let now = self.0.lock();
        let behind_rows = now.behind_rows();
        let behind = u64::try_from(now.whole_at.elapsed().as_millis()).unwrap_or(u64::MAX);
        StandbyStatus {
            behind_rows,
            behind_bytes: now.head.map(|head| if behind_rows == Some(0) { 0 } else { head.bytes }),
            behind_ms: if now.is_whole() { 0 } else { behind },
            ..now.status.clone()
        }
    }
}

impl Now {
    /// Rows that it lacks, by the last word of its server.
    fn behind_rows(&self) -> Option<u64> {
        self.head.map(|head| head.flushed.saturating_sub(self.status.row))
    }

    fn is_whole(&self) -> bool {
        self.status.state == StandbyState::Following && self.behind_rows() == Some(0)
    }

    fn note_whole(&mut self) {
        if self.is_whole() {
            (self.whole_at, self.status.incomplete) = (Instant::now(), None);
        }
    }
}
