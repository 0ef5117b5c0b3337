//! The thread that delivers events to streams. It reads and formats each event once for all receivers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::events;
use crate::prelude::*;
use feed::streaming::{Event, Frame, Kind};
use feed::{timeline, visibility};
use model::UserId;
use model::threads;

/// Most events read in one step.
const SLICE: usize = 64;
/// Longest wait for a hint.
const TIME_LIMIT: Duration = Duration::from_millis(500);
/// How often the readers of open streams are marked as active, and how many in one step: so few that events are not
/// delayed.
const SEE_EVERY: Duration = Duration::from_secs(60);
const SEEN_AT_ONCE: usize = 16;

/// The running thread.
#[derive(Debug)]
pub struct Dispatcher {
    api: Arc<Api>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Dispatcher {
    /// Starts the thread.
    pub fn start(api: &Arc<Api>) -> Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        // No stream is open yet, so earlier events have no receiver.
        let next = api.feed().streaming().sequencer().end();
        let state = State { api: Arc::clone(api), next, to_see: Vec::new(), seen: Instant::now() };
        let told = Arc::clone(&stopped);
        let thread = threads::start("dispatch", move || state.run(&told))?;
        Ok(Self { api: Arc::clone(api), stopped, thread: Some(thread) })
    }
}

impl Drop for Dispatcher {
    /// Ends the thread and waits for it.
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.api.feed().streaming().wake();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread for streams panicked");
        }
    }
}

struct State {
    api: Arc<Api>,
    /// Number of the next event.
    next: u64,
    /// Readers to be marked as active.
    to_see: Vec<UserId>,
    /// Time of the last list of readers.
    seen: Instant,
}

impl State {
    fn run(mut self, stopped: &AtomicBool) {
        while !stopped.load(Ordering::SeqCst) {
            match catch_unwind(AssertUnwindSafe(|| self.step())) {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => self.api.feed().streaming().wait(TIME_LIMIT),
                failed => {
                    let cause = failed.map_or_else(|_| "the thread panicked".to_owned(), |step| format!("{step:?}"));
                    tracing::error!(cause, "events for streams were lost; every stream gets a reset");
                    self.next = self.api.feed().streaming().sequencer().end();
                    self.api.feed().streaming().streams().reset_all();
                    thread::sleep(TIME_LIMIT);
                }
            }
        }
    }

    /// Delivers some events to their streams; false if there are none.
    fn step(&mut self) -> Result<bool> {
        self.see();
        if let Err(error) = feed::events::tend(self.api.feed()) {
            tracing::debug!(%error, "the oldest events could not be removed; the next attempt follows");
        }
        let streaming = self.api.feed().streaming();
        let end = streaming.sequencer().end();
        self.api.end.send_if_modified(|told| std::mem::replace(told, end) < end);
        let slice = streaming.sequencer().slice(self.next, u64::MAX, SLICE);
        if slice.lost || slice.events.iter().any(|event| event.kind == Kind::Gap) {
            streaming.streams().reset_all();
        }
        self.next = slice.next;
        let is_any = !slice.events.is_empty();
        let wanted = |event: &Event| streaming.streams().has_listeners(event.paths());
        let events: Vec<Event> = slice.events.into_iter().filter(wanted).collect();
        for (event, frame) in events.iter().zip(events::frames(self.api.feed(), &events)?) {
            if let Some(frame) = frame {
                self.deliver(event, frame)?;
            }
        }
        Ok(self.tell()? || is_any)
    }

    /// Tells some users what concerns them alone; false if there is nothing.
    fn tell(&self) -> Result<bool> {
        let (feed, streaming) = (self.api.feed(), self.api.feed().streaming());
        let waiting = streaming.take_personal(SLICE);
        for (user, what) in &waiting {
            if let Some((actor, text)) = events::personal(feed, *user, what)? {
                streaming.streams().tell(*user, actor, text);
            }
        }
        Ok(!waiting.is_empty())
    }

    /// Delivers one event to its streams. Before that, the readers' reactions to its item are read, if it has any, and
    /// whether they silence its author, if it has further paths.
    fn deliver(&self, event: &Event, frame: Frame) -> Result<()> {
        let (feed, streams) = (self.api.feed(), self.api.feed().streaming().streams());
        if !frame.asks() {
            streams.deliver(event.number, frame, None);
            return Ok(());
        }
        let readers = streams.listeners(&frame);
        let viewed = visibility::viewed(feed.read(), &event.entry, event.to.is_some(), &readers)?;
        let viewers: Vec<_> = readers.into_iter().zip(viewed).collect();
        streams.deliver(event.number, frame, Some(&viewers));
        Ok(())
    }

    /// An open stream keeps its reader active.
    fn see(&mut self) {
        if self.to_see.is_empty() && self.seen.elapsed() >= SEE_EVERY {
            self.seen = Instant::now();
            self.to_see = self.api.feed().streaming().streams().readers();
        }
        let part = self.to_see.len().saturating_sub(SEEN_AT_ONCE);
        for reader in self.to_see.drain(part..) {
            if let Err(error) = timeline::mark_seen(self.api.feed().read(), reader) {
                tracing::warn!(%error, user = %reader, "a user with an open stream could not be marked as active");
            }
        }
    }
}
