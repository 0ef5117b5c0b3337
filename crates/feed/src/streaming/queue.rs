//! The events that one open stream still has to send.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use super::frame::Item;
use super::memory::Memory;
use super::reader_sources::Shown;
use model::Cursor;

/// Most events that wait for one client.
pub(super) const CAPACITY: usize = 1000;

/// The position of what is not in the log.
pub(super) const NO_POSITION: u64 = u64::MAX;

/// The events of one stream, in order.
#[derive(Debug)]
pub(super) struct Queue {
    /// Some may be of sources that are not shown any more. This is checked when an item is sent, so that a change of what
    /// is shown costs the same however much waits.
    items: VecDeque<Item>,
    /// The position of the first event that is the stream's.
    from: u64,
    /// Whether events were left out: then a reset comes next, and no event waits.
    is_reset: bool,
    waker: Option<Waker>,
}

impl Queue {
    /// For the events from this position on.
    pub(super) fn new(from: u64) -> Self {
        Self { items: VecDeque::new(), from, is_reset: false, waker: None }
    }

    /// Whether the event at this position is one of the stream's. A reset that comes next stands for all events so far.
    pub(super) fn wants(&self, position: u64) -> bool {
        self.from <= position && (!self.is_reset || position == NO_POSITION)
    }

    /// Adds an item that counts in this memory, for a reader who is shown this. False if there is no room: a reset is needed.
    #[must_use]
    pub(super) fn put(&mut self, item: &Item, memory: &Memory, shown: &Shown) -> bool {
        let is_full = |items: &VecDeque<Item>| items.len() >= CAPACITY || (memory.is_short() && !items.is_empty());
        if is_full(&self.items) {
            self.items.retain(|item| item.is_for(shown));
        }
        let has_room = !is_full(&self.items);
        if has_room {
            self.items.push_back(item.clone());
        }
        has_room
    }

    /// Leaves all items out.
    pub(super) fn reset(&mut self) {
        self.items = VecDeque::new();
        self.is_reset = true;
    }

    /// The task that waits for the next item.
    pub(super) fn waker(&mut self) -> Option<Waker> {
        self.waker.take()
    }

    /// The next item for a reader who is shown this. A reset leads to the end of the log, which `mark` returns with a cursor: events
    /// in the log by now are left out, too. So this stream and one that is opened there continue from the same place.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        shown: &Shown,
        mark: impl FnOnce() -> (u64, Cursor),
    ) -> Poll<Option<Item>> {
        if std::mem::take(&mut self.is_reset) {
            let (from, cursor) = mark();
            self.from = from;
            return Poll::Ready(Some(Item::Reset(cursor)));
        }
        while let Some(item) = self.items.pop_front() {
            if item.is_for(shown) {
                return Poll::Ready(Some(item));
            }
        }
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::Frame;
    use super::super::memory::MEMORY;
    use super::*;
    use model::{Entry, Event, EventKind, UserId};

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn shown(sources: &[u64]) -> Shown {
        Shown { sources: sources.iter().map(|raw| user(*raw)).collect(), ..Shown::default() }
    }

    fn frame(author: u64, memory: &Memory) -> Item {
        let event = Event::new(1, EventKind::Edit, false, 1, 1);
        let event = Event { entry: Entry::plain(Cursor::OLDEST, user(author)), broadcast: true, ..event };
        Item::Frame(Frame::new(&event, "x".repeat(100), memory).ready(&[], memory))
    }

    fn push(queue: &mut Queue, author: u64, memory: &Memory) -> bool {
        queue.put(&frame(author, memory), memory, &shown(&[author]))
    }

    #[test]
    fn where_memory_is_short_only_those_who_lag_lose() {
        let (mut lagging, mut quick, memory) = (Queue::new(0), Queue::new(0), Memory::default());
        assert!(push(&mut lagging, 1, &memory));
        let _all = memory.hold(MEMORY as usize);
        assert!(push(&mut quick, 1, &memory));
        assert!(!push(&mut lagging, 1, &memory));
    }
}
