//! Streaming: the order of events, the open streams, and the users online.
//!
//! Everything here is in memory. [`Sequencer`] gives events one order and keeps those since the start, the newest ones,
//! so that a client can resume; earlier ones are in the store. [`Streams`] has a bounded queue for each open stream.
//! [`Presence`] knows who is online.
//!
//! One thread moves events from the sequencer to the queues. It is woken through a channel of one place: a hint that
//! finds it full is not needed.

mod change_time;
mod frame;
pub(crate) mod histories;
mod ids;
mod log;
mod memory;
pub(crate) mod on_disk;
mod personal;
mod presence;
mod queue;
mod reader_sources;
mod sequence_state;
mod sequencer;
mod sequencer_state;
mod streams;
mod times;

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};

use crate::waiting::Waiting;
use model::clock::now;
use model::sync::atomic::{AtomicU64, Ordering};
use model::{Millis, UserId};

pub use self::{
    change_time::*, frame::*, log::*, memory::*, personal::*, presence::*, reader_sources::*, sequence_state::*,
    sequencer::*, sequencer_state::*, streams::*, times::*,
};
pub use model::{Event, EventKind as Kind};

/// The order of events, the open streams and presence.
#[derive(Debug)]
pub struct Streaming {
    presence: Arc<Presence>,
    sequencer: Arc<Sequencer>,
    streams: Arc<Streams>,
    waiting: Waiting<(UserId, Personal)>,
    hint: Sender<()>,
    hints: Receiver<()>,
    changes: ReentrantMutex<()>,
    /// The time of the last change of a command log; 0 without one.
    log_time: AtomicU64,
    /// Items deleted before this time stay deleted, whatever the settings say.
    final_before: AtomicU64,
}

impl Streaming {
    /// Nobody online, no events yet. A heartbeat lasts `ttl`.
    pub fn new(ttl: Millis) -> Self {
        let (hint, hints) = bounded(1);
        let presence = Arc::new(Presence::new(ttl));
        let sequencer = Arc::new(Sequencer::new(hint.clone()));
        let streams = Arc::new(Streams::new(Arc::clone(&sequencer), Arc::clone(&presence)));
        let (waiting, log_time, final_before) =
            (Waiting::new(personal::MOST_WAITING), AtomicU64::new(0), AtomicU64::new(0));
        let changes = ReentrantMutex::default();
        Self { presence, sequencer, streams, waiting, hint, hints, changes, log_time, final_before }
    }

    /// Lets no change begin until the result is dropped, and waits for the end of those under way. For work that moves or removes
    /// rows that changes read, and for reads that changes have disturbed too often.
    pub fn hold_changes(&self) -> ReentrantMutexGuard<'_, ()> {
        self.changes.lock()
    }

    /// The users online.
    pub fn presence(&self) -> &Presence {
        &self.presence
    }

    /// The order of events.
    pub fn sequencer(&self) -> &Sequencer {
        &self.sequencer
    }

    /// The open streams.
    pub fn streams(&self) -> &Arc<Streams> {
        &self.streams
    }

    /// Lets the streams of a user tell something, if any is open: to be called after the change is on disk. If too much
    /// waits, they get a reset.
    pub(crate) fn tell(&self, user: UserId, what: Personal) {
        if !self.streams.is_open(user) {
            return;
        }
        if !self.waiting.push((user, what)) {
            self.streams.reset(user);
        }
        self.wake();
    }

    /// The time from which on notices may still come, and whether a change under way decides it. In a command log the changes
    /// of one time are next to each other.
    pub(crate) fn notices_complete(&self) -> (Millis, bool) {
        match self.log_time.load(Ordering::Relaxed) {
            0 => self.sequencer.complete(),
            time => (time + 1, false),
        }
    }

    /// Takes what waits to be told, at most this many.
    pub fn take_personal(&self, most: usize) -> Vec<(UserId, Personal)> {
        self.waiting.take(most)
    }

    /// All later changes of the command log have this time or a later one.
    pub fn set_log_time(&self, time: Millis) {
        self.log_time.fetch_max(time, Ordering::Relaxed);
    }

    /// Whether the time of a command log is known.
    pub(crate) fn has_log_time(&self) -> bool {
        self.log_time.load(Ordering::Relaxed) > 0
    }

    /// A time that no later change lies before: that of the command log, on a node of a cluster, else the clock's.
    pub fn time_of_changes(&self) -> Millis {
        match self.log_time.load(Ordering::Relaxed) {
            0 => now(),
            time => time,
        }
    }

    /// Items deleted before this time stay deleted from now on.
    pub fn set_final_before(&self, time: Millis) {
        self.final_before.fetch_max(time, Ordering::Relaxed);
    }

    /// Items deleted before the result cannot be restored by a change at a time. They are kept for `retention`.
    pub fn final_before(&self, at: Millis, retention: Millis) -> Millis {
        (at + 1).saturating_sub(retention).max(self.final_before.load(Ordering::Relaxed))
    }

    /// Ends [`Streaming::wait`] at once.
    pub fn wake(&self) {
        hint(&self.hint);
    }

    /// Waits until there may be something to do, at most for `timeout`.
    pub fn wait(&self, timeout: Duration) {
        // The caller checks in either case.
        let _ = self.hints.recv_timeout(timeout);
    }
}

/// Wakes the thread that moves events to the queues.
fn hint(hints: &Sender<()>) {
    // A full channel has a hint already.
    let _ = hints.try_send(());
}
