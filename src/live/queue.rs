//! What one open stream has still to send.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::model::{Cursor, Fill, UserId};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Most events that wait for one client.
pub(super) const CAPACITY: usize = 1000;
/// Bytes of the texts that wait for clients, all streams together. Above it a client that lags loses
/// what waits for it, and one that catches up gets one event at a time.
const MEMORY: u64 = 64 << 20;

/// The memory of what waits to be sent, all streams together.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<AtomicU64>);

impl Memory {
    /// Counts so many bytes, whether there is room for them or not.
    pub fn hold(&self, bytes: usize) -> Share {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
        Share { memory: self.clone(), bytes }
    }

    /// Sets so many bytes aside, if there is room for them.
    pub fn reserve(&self, bytes: usize) -> Option<Share> {
        let more = |used: u64| Some(used.saturating_add(bytes as u64)).filter(|used| *used <= MEMORY);
        let reserved = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        reserved.is_ok().then(|| Share { memory: self.clone(), bytes })
    }

    pub(super) fn fill(&self) -> Fill {
        Fill { used: self.0.load(Ordering::Relaxed), limit: MEMORY }
    }

    fn is_short(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MEMORY
    }
}

/// Some of the memory, counted until this is dropped.
#[derive(Debug)]
pub struct Share {
    memory: Memory,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.bytes as u64, Ordering::Relaxed);
    }
}

/// An event as it goes out, one text for all streams that get it.
#[derive(Debug)]
pub struct Frame {
    author: UserId,
    text: String,
    memory: Memory,
}

impl Frame {
    pub(super) fn new(author: UserId, text: String, memory: Memory) -> Self {
        memory.0.fetch_add(text.len() as u64, Ordering::Relaxed);
        Self { author, text, memory }
    }

    /// As it goes out.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.text.len() as u64, Ordering::Relaxed);
    }
}

/// The next thing for a client.
#[derive(Debug, Clone)]
pub enum Item {
    /// An event.
    Frame(Arc<Frame>),
    /// Events were left out. What was committed before the client gets to know this, it finds in its
    /// timeline; what comes after this cursor, the stream goes on with.
    Reset(Cursor),
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    waker: Option<Waker>,
    /// The reader's authors have changed: what waits may be of somebody who is not shown any more.
    stale: bool,
    closed: bool,
}

/// A queue between the one thread that brings events and the one that sends them.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

/// What became of a push.
pub(super) enum Pushed {
    /// It waits with the others.
    Queued,
    /// There was no room: all that waited is gone, and a reset is wanted.
    Overflowed,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event; also whom to wake.
    pub(super) fn push(&self, frame: &Arc<Frame>) -> (Pushed, Option<Waker>) {
        let mut state = self.lock();
        if state.closed {
            return (Pushed::Queued, None);
        }
        let full = state.items.len() >= CAPACITY || (frame.memory.is_short() && !state.items.is_empty());
        if full {
            state.items = VecDeque::new();
            return (Pushed::Overflowed, None);
        }
        state.items.push_back(Item::Frame(Arc::clone(frame)));
        (Pushed::Queued, state.waker.take())
    }

    /// Leaves only a reset; whom to wake.
    pub(super) fn reset(&self, cursor: Cursor) -> Option<Waker> {
        let mut state = self.lock();
        state.items = VecDeque::from([Item::Reset(cursor)]);
        state.waker.take()
    }

    /// Gives nothing out until it is settled.
    pub(super) fn unsettle(&self) {
        self.lock().stale = true;
    }

    /// Drops what is not of `authors` (ascending) and goes on; whom to wake.
    pub(super) fn settle(&self, authors: &[UserId]) -> Option<Waker> {
        let mut state = self.lock();
        state.items.retain(|item| match item {
            Item::Frame(frame) => authors.binary_search(&frame.author).is_ok(),
            Item::Reset(_) => true,
        });
        state.stale = false;
        state.waker.take()
    }

    /// Ends the stream; whom to wake.
    pub(super) fn close(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.closed = true;
        state.items = VecDeque::new();
        state.waker.take()
    }

    /// The next item; `None` once closed.
    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Item>> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(None);
        }
        let item = if state.stale { None } else { state.items.pop_front() };
        match item {
            Some(item) => Poll::Ready(Some(item)),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn frame(author: u64, memory: &Memory) -> Arc<Frame> {
        Arc::new(Frame::new(user(author), "x".repeat(100), memory.clone()))
    }

    fn take(queue: &Queue) -> Vec<Option<u64>> {
        let mut context = Context::from_waker(Waker::noop());
        let mut taken = Vec::new();
        while let Poll::Ready(Some(item)) = queue.poll(&mut context) {
            taken.push(match item {
                Item::Frame(frame) => Some(frame.author.get()),
                Item::Reset(_) => None,
            });
        }
        taken
    }

    #[test]
    fn a_full_queue_keeps_nothing_and_gives_its_memory_back() {
        let (queue, memory) = (Queue::default(), Memory::default());
        for _ in 0..CAPACITY {
            assert!(matches!(queue.push(&frame(1, &memory)).0, Pushed::Queued));
        }
        assert_eq!(memory.fill().used, 100 * CAPACITY as u64);
        assert!(matches!(queue.push(&frame(1, &memory)).0, Pushed::Overflowed));
        assert_eq!(memory.fill().used, 0);
        queue.reset(Cursor::OLDEST);
        assert!(matches!(queue.push(&frame(2, &memory)).0, Pushed::Queued));
        assert_eq!(take(&queue), [None, Some(2)]);
    }

    #[test]
    fn memory_is_set_aside_where_there_is_some() {
        let memory = Memory::default();
        let (all, more) = (memory.reserve(MEMORY as usize - 10), memory.hold(10));
        assert!(all.is_some() && memory.reserve(1).is_none());
        let beyond = memory.hold(10);
        drop((more, beyond));
        assert!(memory.reserve(11).is_none() && memory.reserve(10).is_some());
        drop(all);
        assert_eq!(memory.fill().used, 0);
    }

    #[test]
    fn where_memory_is_short_only_those_who_lag_lose() {
        let (lagging, quick, memory) = (Queue::default(), Queue::default(), Memory::default());
        assert!(matches!(lagging.push(&frame(1, &memory)).0, Pushed::Queued));
        memory.0.fetch_add(MEMORY, Ordering::Relaxed);
        let next = frame(1, &memory);
        assert!(matches!(quick.push(&next).0, Pushed::Queued));
        assert!(matches!(lagging.push(&next).0, Pushed::Overflowed));
    }

    #[test]
    fn nothing_of_an_author_who_is_gone_is_given_out() {
        let (queue, memory) = (Queue::default(), Memory::default());
        for author in [1, 2, 1, 3] {
            queue.push(&frame(author, &memory));
        }
        queue.unsettle();
        assert!(take(&queue).is_empty());
        queue.settle(&[user(2), user(3)]);
        assert_eq!(take(&queue), [Some(2), Some(3)]);
        queue.push(&frame(2, &memory));
        queue.close();
        assert!(matches!(queue.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(None)));
        assert_eq!(memory.fill().used, 0);
    }
}
