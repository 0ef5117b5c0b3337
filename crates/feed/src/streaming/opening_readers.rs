//! Events for stale readers.

use std::collections::VecDeque;
use std::sync::Arc;

use super::frame::Frame;
use super::queue::CAPACITY;

/// Most bytes of deferred events: an eighth of the memory of waiting events, so that a slow read of authors takes no
/// room from other readers.
const BYTES: usize = 8 << 20;

/// An event with its position in the log.
pub(super) type Positioned = (u64, Arc<Frame>);

/// The events delivered since the first of these readers became stale. Each takes its part of the one list once its
/// authors are known, so an event costs the same however many are stale. Events are numbered as they come.
#[derive(Debug, Default)]
pub(super) struct EventsForOpeningReaders {
    events: VecDeque<Positioned>,
    /// The number of the first event kept.
    first: u64,
    bytes: usize,
    /// The position of the last event dropped for lack of room.
    lost: u64,
}

impl EventsForOpeningReaders {
    /// The number that the next event gets.
    pub(super) fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// Adds an event. Drops the oldest if there is no room.
    pub(super) fn push(&mut self, position: u64, frame: &Arc<Frame>) {
        while !self.events.is_empty()
            && (self.events.len() >= CAPACITY || self.bytes + frame.bytes() > BYTES || frame.memory().is_short())
        {
            self.lost = self.drop_first().unwrap_or(self.lost);
        }
        self.bytes += frame.bytes();
        self.events.push_back((position, Arc::clone(frame)));
    }

    /// The events from a number on. If some of them were dropped for lack of room, also the position of the last.
    pub(super) fn since(&self, number: u64) -> (impl Iterator<Item = &Positioned>, Option<u64>) {
        let gone = usize::try_from(number.saturating_sub(self.first)).unwrap_or(usize::MAX);
        (self.events.iter().skip(gone), (number < self.first).then_some(self.lost))
    }

    /// Forgets events below this number.
    pub(super) fn forget_before(&mut self, number: u64) {
        while self.first < number && self.drop_first().is_some() {}
    }

    fn drop_first(&mut self) -> Option<u64> {
        let (position, frame) = self.events.pop_front()?;
        self.first += 1;
        self.bytes -= frame.bytes();
        Some(position)
    }
}
