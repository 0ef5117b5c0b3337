//! The thread that brings events to the streams: each is read and written as text once, however many
//! get it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::events;
use crate::error::{Error, Result};
use crate::feed::Feed;
use crate::live::{Event, Kind};
use crate::model::UserId;

/// Events that are read at once.
const SLICE: usize = 64;
/// How long to wait for a hint.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the readers of open streams are marked as active, and how many of them at once: not so
/// many that an event would wait for it.
const SEE_EVERY: Duration = Duration::from_secs(60);
const SEEN_AT_ONCE: usize = 16;

/// The running thread.
#[derive(Debug)]
pub struct Dispatcher {
    feed: Arc<Feed>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Dispatcher {
    /// Starts the thread.
    pub fn start(feed: Arc<Feed>) -> Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        let state = State { feed: Arc::clone(&feed), next: 0, to_see: Vec::new(), seen: Instant::now() };
        let told = Arc::clone(&stopped);
        let thread = thread::Builder::new().name("dispatch".to_owned()).spawn(move || state.run(&told));
        let thread = thread.map_err(|e| Error::Setup(format!("cannot start a thread: {e}")))?;
        Ok(Self { feed, stopped, thread: Some(thread) })
    }

    /// Ends the thread and waits for it.
    pub fn stop(mut self) {
        self.join();
    }

    fn join(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.feed.live().wake();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread for streams panicked");
        }
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.join();
    }
}

struct State {
    feed: Arc<Feed>,
    /// The position of the next event.
    next: u64,
    /// Readers to be marked as active.
    to_see: Vec<UserId>,
    /// When the last of them were listed.
    seen: Instant,
}

impl State {
    fn run(mut self, stopped: &AtomicBool) {
        while !stopped.load(Ordering::SeqCst) {
            match catch_unwind(AssertUnwindSafe(|| self.step())) {
                Ok(Ok(true)) => {}
                Ok(Ok(false)) => self.feed.live().wait(PATIENCE),
                failed => {
                    let why = failed.map_or_else(|_| "it panicked".to_owned(), |step| format!("{step:?}"));
                    tracing::error!(why, "events for streams were lost; every stream is told");
                    self.next = self.feed.live().sequencer().end();
                    self.feed.live().streams().reset_all();
                    thread::sleep(PATIENCE);
                }
            }
        }
    }

    /// Brings some events to their streams; false if there are none.
    fn step(&mut self) -> Result<bool, super::problem::Problem> {
        self.see();
        let live = self.feed.live();
        let slice = live.sequencer().slice(self.next, u64::MAX, SLICE);
        if slice.lost {
            live.streams().reset_all();
        }
        let from = slice.from;
        self.next = from + slice.events.len() as u64;
        let wanted = |event: &Event| event.kind != Kind::Mark && live.streams().has_listeners(event.entry.author);
        let (positions, events): (Vec<u64>, Vec<Event>) =
            (from..).zip(&slice.events).filter(|(_, event)| wanted(event)).unzip();
        for ((position, event), text) in positions.into_iter().zip(&events).zip(events::texts(&self.feed, &events)?) {
            let Some(text) = text else { continue };
            live.streams().deliver(position, &live.streams().frame(event.entry.author, text));
        }
        Ok(!slice.events.is_empty())
    }

    /// An open stream keeps its reader active.
    fn see(&mut self) {
        if self.to_see.is_empty() && self.seen.elapsed() >= SEE_EVERY {
            self.seen = Instant::now();
            self.to_see = self.feed.live().streams().readers();
        }
        let part = self.to_see.len().saturating_sub(SEEN_AT_ONCE);
        for reader in self.to_see.drain(part..) {
            if let Err(error) = self.feed.still_listens(reader) {
                tracing::warn!(%error, user = %reader, "a listening user could not be marked as active");
            }
        }
    }
}
