//! The newest events, in the order in which streams get them.

use std::collections::{HashMap, VecDeque};

use model::{Cursor, Event, EventKind};

/// Events that are kept; with their index some 10 MiB.
const CAPACITY: usize = 1 << 16;

/// A part of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The events, ascending.
    pub events: Vec<Event>,
    /// The number from which to continue.
    pub next: u64,
    /// Whether some of the requested events are gone.
    pub lost: bool,
}

/// A ring of events, ascending by number.
#[derive(Debug)]
pub(super) struct Log {
    events: VecDeque<Event>,
    /// All events with this number or a higher one are here.
    from: u64,
    /// A number above those of all events and effects so far.
    end: u64,
    /// The numbers of publishes, by the cursors of their items. The cursor of a restored item still leads to its
    /// publish: to resume there repeats events, to resume at the restore could miss some.
    publishes: HashMap<Cursor, u64>,
}

impl Log {
    /// A log that continues after this event. The place of the event leads back to it.
    pub(super) fn behind(last: Event) -> Self {
        let from = last.number + 1;
        Self { events: VecDeque::from([last]), from, end: from, publishes: HashMap::new() }
    }

    pub(super) fn push(&mut self, event: Event) {
        if self.events.len() == CAPACITY {
            self.drop_first();
        }
        if event.kind == EventKind::Publish {
            self.publishes.insert(event.entry.cursor, event.number);
        }
        self.pass(event.number);
        self.events.push_back(event);
    }

    /// No event with this number or a smaller one comes any more.
    pub(super) fn pass(&mut self, number: u64) {
        self.end = self.end.max(number + 1);
    }

    fn drop_first(&mut self) {
        let Some(event) = self.events.pop_front() else { return };
        if self.publishes.get(&event.entry.cursor) == Some(&event.number) {
            self.publishes.remove(&event.entry.cursor);
        }
        self.from = event.number + 1;
    }

    /// All events with this number or a higher one are here.
    pub(super) fn begin(&self) -> u64 {
        self.from
    }

    /// A number above those of all events and effects so far.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The newest event.
    pub(super) fn last(&self) -> Option<&Event> {
        self.events.back()
    }

    /// The index of the first event with this number or a higher one.
    fn index(&self, number: u64) -> usize {
        self.events.partition_point(|event| event.number < number)
    }

    /// The publish of the item with this cursor.
    pub(super) fn publish(&self, cursor: Cursor) -> Option<&Event> {
        let number = *self.publishes.get(&cursor)?;
        self.events.get(self.index(number)).filter(|event| event.number == number)
    }

    /// The smallest cursor with a time given here of the events with this number or a higher one.
    pub(super) fn first_given(&self, number: u64) -> Option<Cursor> {
        let mut events = self.events.range(self.index(number)..);
        events.find(|event| event.given).map(|event| event.entry.cursor)
    }

    /// The number of the event to which a cursor leads: the cursor of an item to its publish, the place of an event to
    /// that event.
    pub(super) fn place(&self, cursor: Cursor) -> Option<u64> {
        let publish = self.publishes.get(&cursor).copied();
        let own = Event::number_of(cursor).and_then(|number| self.events.get(self.index(number)));
        let own = own.filter(|event| event.place() == cursor).map(|event| event.number);
        // From the earlier of two places nothing is missed.
        publish.into_iter().chain(own).min()
    }

    /// At most `most` events from a number on, up to and without `end`.
    pub(super) fn slice(&self, from: u64, end: u64, most: usize) -> Slice {
        let first = self.index(from);
        let until = self.index(end).min(first.saturating_add(most)).max(first);
        let events: Vec<_> = self.events.range(first..until).cloned().collect();
        let all = events.len() < most;
        let next = match events.last() {
            Some(last) if !all => last.number + 1,
            _ => from.max(self.from).max(end.min(self.end)),
        };
        Slice { events, next, lost: from < self.from }
    }
}
