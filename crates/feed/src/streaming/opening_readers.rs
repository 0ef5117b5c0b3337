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

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;
    use super::*;
    use model::UserId;

    fn frame(bytes: usize, memory: &Memory) -> Arc<Frame> {
        Frame::of_author(UserId::MIN, "x".repeat(bytes), memory.clone()).ready()
    }

    fn since(deferred: &EventsForOpeningReaders, number: u64) -> (Vec<u64>, Option<u64>) {
        let (events, lost) = deferred.since(number);
        (events.map(|(position, _)| *position).collect(), lost)
    }

    #[test]
    fn each_takes_its_part_and_what_nobody_needs_goes() {
        let (mut deferred, memory) = (EventsForOpeningReaders::default(), Memory::default());
        (10..15).for_each(|position| deferred.push(position, &frame(7, &memory)));
        assert_eq!((deferred.end(), since(&deferred, 3)), (5, (vec![13, 14], None)));
        deferred.forget_before(3);
        assert_eq!((since(&deferred, 3), since(&deferred, 5)), ((vec![13, 14], None), (vec![], None)));
        assert_eq!(memory.fill().used, 14);
        deferred.forget_before(u64::MAX);
        assert_eq!((deferred.end(), deferred.bytes, memory.fill().used), (5, 0, 0));
        deferred.push(20, &frame(7, &memory));
        assert_eq!(since(&deferred, 5), (vec![20], None));
    }

    #[test]
    fn there_is_only_so_much_and_who_lacks_something_gets_to_know() {
        let (mut deferred, memory) = (EventsForOpeningReaders::default(), Memory::default());
        (0..CAPACITY as u64 + 2).for_each(|position| deferred.push(100 + position, &frame(1, &memory)));
        assert_eq!((since(&deferred, 1).1, since(&deferred, 2).1), (Some(101), None));
        assert_eq!(since(&deferred, 0).0.len(), CAPACITY);
        deferred.push(5000, &frame(BYTES, &memory));
        assert_eq!(
            since(&deferred, 0),
            (vec![5000], Some(101 + CAPACITY as u64)),
            "one alone may be as large as it is"
        );
        deferred.push(5001, &frame(1, &memory));
        assert_eq!(since(&deferred, 0), (vec![5001], Some(5000)));
        let _all = memory.hold(64 << 20);
        deferred.push(5002, &frame(1, &memory));
        assert_eq!(since(&deferred, 0), (vec![5002], Some(5001)), "memory is short");
    }
}
