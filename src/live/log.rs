//! The newest events, in the order in which streams get them.

use std::collections::{HashMap, VecDeque};

use crate::model::{Cursor, Entry, Millis};

/// Events that are kept; with their index some 8 MiB.
pub(super) const CAPACITY: usize = 1 << 16;

/// What happened to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It was published.
    Publish,
    /// Its deletion was taken back.
    Restore,
    /// It was edited.
    Edit,
    /// It was deleted.
    Delete,
    /// Nothing: a place in the order with a cursor of its own, for a stream to go on from.
    Mark,
}

/// Something that happened to a broadcast item. What the item is now, its reader looks up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: Kind,
    /// To which item; of a mark, only the cursor counts.
    pub entry: Entry,
    /// When it came into the log, by the server's clock.
    pub logged: Millis,
    /// The cursor that leads on from here: of a restore one of its own, for that of its item leads back to
    /// the publish; otherwise that of the item. Edits and deletes cannot be found by it.
    pub place: Cursor,
}

/// A part of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// Position of the first event.
    pub from: u64,
    /// The events, each one position after the other.
    pub events: Vec<Event>,
    /// Whether events before `from` that were asked for are gone.
    pub lost: bool,
}

/// A ring of events. Positions count from 0, at the start of the process, and are never used again.
#[derive(Debug, Default)]
pub(super) struct Log {
    events: VecDeque<Event>,
    /// Position of the first event that is kept.
    first: u64,
    /// Positions of publishes, restores and marks. The cursor of a restored item keeps leading to its publish:
    /// going on from there repeats something, from the later place it might miss something.
    places: HashMap<Cursor, u64>,
}

impl Log {
    pub(super) fn push(&mut self, event: Event) {
        if self.events.len() == CAPACITY {
            self.drop_first();
        }
        if matches!(event.kind, Kind::Publish | Kind::Restore | Kind::Mark) {
            self.places.insert(event.place, self.end());
        }
        self.events.push_back(event);
    }

    fn drop_first(&mut self) {
        let Some(event) = self.events.pop_front() else { return };
        if self.places.get(&event.place) == Some(&self.first) {
            self.places.remove(&event.place);
        }
        self.first += 1;
    }

    /// The position that the next event gets.
    pub(super) fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// The newest event.
    pub(super) fn last(&self) -> Option<&Event> {
        self.events.back()
    }

    /// Where the publish, restore or mark to which this cursor leads stands.
    pub(super) fn place(&self, cursor: Cursor) -> Option<u64> {
        self.places.get(&cursor).copied()
    }

    /// At most `most` events from a position on, up to and without `end`.
    pub(super) fn slice(&self, from: u64, end: u64, most: usize) -> Slice {
        let lost = from < self.first;
        let from = from.max(self.first);
        let until = end.min(self.end()).min(from.saturating_add(most as u64)).max(from);
        // Positions within the ring fit into what counts its events.
        let range = (from - self.first) as usize..(until - self.first).min(self.events.len() as u64) as usize;
        let events = if range.start < range.end { self.events.range(range).copied().collect() } else { Vec::new() };
        Slice { from, events, lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ContentId, UserId};

    fn event(kind: Kind, at: u64) -> Event {
        let cursor = Cursor { at, id: ContentId::MIN };
        Event { kind, entry: Entry { cursor, author: UserId::MIN }, logged: at, place: cursor }
    }

    #[test]
    fn a_ring_forgets_the_oldest_and_says_so() {
        let mut log = Log::default();
        for at in 0..CAPACITY as u64 + 10 {
            log.push(event(Kind::Publish, at));
        }
        assert_eq!(log.end(), CAPACITY as u64 + 10);
        assert_eq!(log.place(event(Kind::Publish, 9).entry.cursor), None);
        assert_eq!(log.place(event(Kind::Publish, 10).entry.cursor), Some(10));
        assert_eq!(log.places.len(), CAPACITY);
        let slice = log.slice(5, u64::MAX, 3);
        assert_eq!((slice.from, slice.events.len(), slice.lost), (10, 3, true));
        assert_eq!(slice.events[0].entry.cursor.at, 10);
        let end = log.end();
        assert_eq!(log.slice(end - 2, end - 1, 9).events, [event(Kind::Publish, end - 2)]);
        assert_eq!(log.slice(end, u64::MAX, 9), Slice { from: end, events: vec![], lost: false });
        assert_eq!(log.slice(end + 5, u64::MAX, 9).events, []);
    }

    #[test]
    fn a_restore_does_not_move_the_place_of_its_item() {
        let mut log = Log::default();
        for kind in [Kind::Publish, Kind::Edit, Kind::Delete] {
            log.push(event(kind, 7));
        }
        let place = event(Kind::Mark, 9).place;
        log.push(Event { place, ..event(Kind::Restore, 7) });
        log.push(Event { place: event(Kind::Mark, 10).place, ..event(Kind::Restore, 8) });
        let item = |at| event(Kind::Publish, at).entry.cursor;
        assert_eq!((log.place(item(7)), log.place(place), log.place(item(8))), (Some(0), Some(3), None));
        for at in 0..CAPACITY as u64 {
            log.push(event(Kind::Edit, 100 + at));
        }
        assert!(log.places.is_empty(), "both are forgotten");
    }
}
