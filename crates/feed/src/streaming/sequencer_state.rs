//! The state of the [`Sequencer`](super::Sequencer): changes under way, and the log.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::change_time::ChangeTime;
use super::ids::IdMaker;
use super::log::Log;
use super::sequence_state::SequenceState;
use super::times::{FAR, Times};
use model::{ContentId, Cursor, Event, EventKind, Millis, Publish};

/// A place in the order of events at which a read begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadPlace {
    /// The end of the log.
    pub(super) end: u64,
    /// No item with a time given here has an earlier time, unless it is in the log before `end`.
    pub(super) open_from: Millis,
}

impl ReadPlace {
    /// Whether a cursor lies surely below the open end of the order.
    pub fn is_above(&self, cursor: Cursor) -> bool {
        cursor.at < self.open_from
    }
}

/// Locked as a whole.
#[derive(Debug)]
pub(super) struct State {
    pub(super) times: Times,
    pub(super) ids: IdMaker,
    /// The number of the next event.
    next: u64,
    /// The latest time in any event so far.
    pub(super) top: Millis,
    /// Numbers of changes that are being written. Bounded by the threads that write and the items of a batch.
    pub(super) in_flight: BTreeSet<u64>,
    /// Cursors of items that are being written, each with its number of writers.
    writers: HashMap<Cursor, usize>,
    /// Events on disk that wait for a smaller number; effects have none in memory.
    ready: BTreeMap<u64, Option<Event>>,
    /// The cursors of the publishes among them.
    pub(super) unlogged: HashSet<Cursor>,
    /// Cursors with times given here of items that are not in the log yet; of those of a gap, the smallest.
    pub(super) given: BTreeSet<Cursor>,
    /// The latest time of which a reader was told that no later item gets an earlier one.
    told: Millis,
    pub(super) log: Log,
    /// The time of the change of a command log that is being made.
    pub(super) at: ChangeTime,
}

impl State {
    /// A log that begins now: with a gap if there is content of unknown events, else with nothing before it.
    pub(super) fn new(now: Millis, has_content: bool) -> Self {
        let (number, kind) = if has_content { (1, EventKind::Gap) } else { (0, EventKind::Mark) };
        let begin = Event::new(number, kind, false, now, now);
        Self::after(now, &begin.clone(), Log::new([begin], number))
    }

    /// The same, for numbers above this one.
    pub(super) fn going_on_after(mut self, number: u64) -> Self {
        self.next = self.next.max(number + 1);
        self.log.pass(self.next - 1);
        self
    }

    /// A log that continues after the newest events on disk, ascending; `all` if there were never others; and after the
    /// newest effect, with its number and time.
    pub(super) fn behind(newest: Vec<Event>, all: bool, effect: Option<(u64, Millis)>, now: Millis) -> Option<Self> {
        let (first, last) = (newest.first()?, newest.last()?.clone());
        let from = if all { 0 } else { first.number };
        // Later than every time given before.
        let (number, at) = effect.unwrap_or_default();
        Some(Self::after(now.max(last.logged + 1).max(at + 1), &last, Log::new(newest, from)).going_on_after(number))
    }

    fn after(at: Millis, last: &Event, log: Log) -> Self {
        Self {
            times: Times::new(at),
            ids: IdMaker::new(at),
            next: last.number + 1,
            top: last.top.max(at),
            in_flight: BTreeSet::new(),
            writers: HashMap::new(),
            ready: BTreeMap::new(),
            unlogged: HashSet::new(),
            given: BTreeSet::new(),
            told: 0,
            log,
            at: ChangeTime::Clock,
        }
    }

    /// All that the next times, ids and numbers depend on.
    pub(super) fn course(&self) -> SequenceState {
        SequenceState { times: self.times.course, last_id: self.ids.last(), next: self.next, top: self.top }
    }

    /// Goes on from a course, also back. Nothing may be under way.
    pub(super) fn take_course(&mut self, course: &SequenceState) {
        self.times.course = course.times;
        self.ids.continue_from(course.last_id);
        (self.next, self.top) = (course.next, course.top);
    }

    /// Gives no time that readers were told is over. The times of a command log keep to that by themselves.
    pub(super) fn keep_to_what_was_told(&mut self) {
        self.times.reach(self.told);
    }

    /// A time before which no item gets its time any more, except those that are in the log.
    pub(super) fn open_from(&self) -> Millis {
        self.given.first().map_or(self.times.next(self.told).at, |first| first.at)
    }

    /// See [`Sequencer::open`](super::Sequencer::open).
    pub(super) fn open(&mut self, place: ReadPlace, time: Millis) -> Cursor {
        self.told = self.told.max(time);
        if place.end < self.log.begin() {
            return Cursor { at: place.open_from, id: ContentId::MIN };
        }
        let since = self.log.first_given(place.end).or(self.given.first().copied());
        since.unwrap_or_else(|| self.times.next(self.told))
    }

    /// Whether an item entered the log since a read began, or is on disk and not in the log yet, or has a time given here
    /// and is being written.
    pub(super) fn is_later(&self, cursor: Cursor, place: ReadPlace) -> bool {
        match self.log.publish(cursor) {
            Some(event) => event.number >= place.end,
            None => self.given.contains(&cursor) || self.unlogged.contains(&cursor),
        }
    }

    /// Lets times and ids go on from this time if they are far ahead of it; returns by how much they were. Nothing may be
    /// under way.
    pub(super) fn set_back(&mut self, to: Millis) -> Option<Millis> {
        let ahead = self.times.at().checked_sub(to).filter(|ahead| *ahead > FAR)?;
        self.take_course(&SequenceState { next: self.next, ..SequenceState::new(to) });
        Some(ahead)
    }

    /// Takes a number for a change that is about to be written. `latest` is the latest time in it.
    pub(super) fn take(&mut self, kind: EventKind, given: bool, latest: Millis) -> Event {
        let logged = self.times.at();
        self.top = self.top.max(logged).max(latest);
        let event = Event::new(self.next, kind, given, logged, self.top);
        self.next += 1;
        self.in_flight.insert(event.number);
        event
    }

    /// The event of the publish of an item.
    pub(super) fn take_for(&mut self, item: &Publish) -> Event {
        let cursor = item.content.cursor();
        *self.writers.entry(cursor).or_default() += 1;
        if item.time_given {
            self.times.pass(cursor);
        } else {
            self.given.insert(cursor);
        }
        self.take(EventKind::Publish, !item.time_given, cursor.at)
    }

    /// A change is on disk.
    pub(super) fn commit(&mut self, event: Event) {
        self.in_flight.remove(&event.number);
        if event.kind == EventKind::Publish {
            self.is_written(event.entry.cursor);
            self.unlogged.insert(event.entry.cursor);
        }
        self.ready.insert(event.number, Some(event));
    }

    /// Takes numbers in a row for effects; returns the first one.
    pub(super) fn take_row(&mut self, many: u64) -> u64 {
        let first = self.next;
        self.next += many;
        self.in_flight.insert(first);
        first
    }

    /// The effects with these numbers are on disk, or were not made.
    pub(super) fn end_row(&mut self, first: u64, many: u64, is_written: bool) {
        self.in_flight.remove(&first);
        if is_written {
            self.ready.insert(first + many - 1, None);
        }
    }

    /// A change was not made.
    pub(super) fn give_back(&mut self, event: &Event, cursor: Option<Cursor>) {
        self.in_flight.remove(&event.number);
        let Some(cursor) = cursor else { return };
        self.is_written(cursor);
        if event.given {
            self.given.remove(&cursor);
        }
    }

    /// A writer of an item has ended.
    fn is_written(&mut self, cursor: Cursor) {
        if let Some(writers) = self.writers.get_mut(&cursor) {
            *writers -= 1;
            if *writers == 0 {
                self.writers.remove(&cursor);
            }
        }
    }

    /// Whether an item is being written and not known to be on disk.
    pub(super) fn is_coming(&self, cursor: Cursor) -> bool {
        self.writers.contains_key(&cursor) && !self.unlogged.contains(&cursor) && self.log.publish(cursor).is_none()
    }

    /// Logs the events that no smaller number in flight holds up.
    pub(super) fn release(&mut self) {
        while let Some(first) = self.ready.first_entry() {
            if self.in_flight.first().is_some_and(|flying| flying < first.key()) {
                return;
            }
            let (number, event) = first.remove_entry();
            self.log.pass(number);
            let Some(event) = event else { continue };
            if event.kind == EventKind::Publish {
                self.unlogged.remove(&event.entry.cursor);
            }
            if event.given {
                self.given.remove(&event.entry.cursor);
            }
            self.log.push(event);
        }
    }

    /// Changes that are being written, or wait for one with a smaller number.
    pub(super) fn under_way(&self) -> usize {
        self.in_flight.len() + self.ready.len()
    }

    /// Whether the event of this number waits for a smaller one.
    pub(super) fn is_ready(&self, number: u64) -> bool {
        self.ready.contains_key(&number)
    }

    /// How many events wait for a smaller number.
    pub(super) fn waiting(&self) -> usize {
        self.ready.len()
    }
}
