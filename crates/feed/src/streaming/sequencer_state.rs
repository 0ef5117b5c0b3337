//! The state of the [`Sequencer`](super::Sequencer): what the next change gets, and the log.

use std::collections::HashSet;

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

/// The newest rows of the log on disk.
#[derive(Debug)]
pub(crate) struct NewestRows {
    /// The events among them, ascending, at most [`CAPACITY`](super::log::CAPACITY).
    pub events: Vec<Event>,
    /// The last row of all, as a mark.
    pub last: Event,
    /// From this number on all events are among them.
    pub from: u64,
}

/// An event that is not in the log.
#[derive(Debug)]
struct Unlogged {
    event: Event,
    /// Whether its change is made; a publish may turn out to be a repeat.
    is_made: bool,
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
    /// When the group began that is under way.
    pub(super) group: Option<Millis>,
    /// The number of the last effect.
    effect: u64,
    /// Events of changes that are not on disk, or that were written just now, ascending.
    unlogged: Vec<Unlogged>,
    /// The smallest cursor with a time given here among them; of the items of a gap, it has the smallest.
    given: Option<Cursor>,
    /// The latest time of which a reader was told that no later item gets an earlier one.
    told: Millis,
    /// Whether no time is given that lies before `told`. Set by the first group at the clock, for ever.
    keeps_to_told: bool,
    pub(super) log: Log,
}

impl State {
    /// A log that begins now, with nothing before it.
    pub(super) fn new(now: Millis) -> Self {
        let begin = Event::new(0, EventKind::Mark, false, now, now);
        Self::after(now, &begin.clone(), Log::new([begin], 0))
    }

    /// A log that continues after the rows on disk.
    pub(super) fn behind(NewestRows { mut events, last, from }: NewestRows, now: Millis) -> Self {
        // Later than every time given before.
        let at = now.max(last.logged + 1);
        if events.is_empty() {
            // The place of any row leads back to it.
            events.push(last.clone());
        }
        let mut log = Log::new(events, from);
        log.pass(last.number);
        Self::after(at, &last, log)
    }

    fn after(at: Millis, last: &Event, log: Log) -> Self {
        Self {
            times: Times::new(at),
            ids: IdMaker::new(at),
            next: last.number + 1,
            top: last.top.max(at),
            group: None,
            effect: 0,
            unlogged: Vec::new(),
            given: None,
            told: 0,
            keeps_to_told: false,
            log,
        }
    }

    /// All that the next times, ids and numbers depend on.
    pub(super) fn course(&self) -> SequenceState {
        SequenceState { times: self.times.course, last_id: self.ids.last(), next: self.next, top: self.top }
    }

    /// Goes on from a course, also back. No change may be under way.
    pub(super) fn take_course(&mut self, course: &SequenceState) {
        self.times.course = course.times;
        self.ids.continue_from(course.last_id);
        (self.next, self.top) = (course.next, course.top);
        self.effect = self.effect.min(course.next - 1);
    }

    /// From now on gives no time that readers are told is over. The times of a command log keep to that by themselves.
    pub(super) fn keep_to_what_is_told(&mut self) {
        self.keeps_to_told = true;
        self.times.reach(self.told);
    }

    /// A time before which no item gets its time any more, except those that are in the log.
    pub(super) fn open_from(&self) -> Millis {
        self.given.map_or_else(|| self.times.next(self.told).at, |first| first.at)
    }

    /// See [`Sequencer::open`](super::Sequencer::open).
    pub(super) fn open(&mut self, place: ReadPlace, time: Millis) -> Cursor {
        self.told = self.told.max(time);
        if self.keeps_to_told {
            self.times.reach(self.told);
        }
        if place.end < self.log.begin() {
            return Cursor { at: place.open_from, id: ContentId::MIN };
        }
        let since = self.log.first_given(place.end).or(self.given);
        since.unwrap_or_else(|| self.times.next(self.told))
    }

    /// The items that are not in the log and that no read shows: those on disk, and those with a time given here.
    pub(super) fn coming(&self) -> HashSet<Cursor> {
        let is_coming = |of: &&Unlogged| of.event.given || (of.is_made && of.event.kind == EventKind::Publish);
        self.unlogged.iter().filter(is_coming).map(|of| of.event.entry.cursor).collect()
    }

    /// Whether an item is one of those that are coming, or entered the log since a read began.
    pub(super) fn is_later(&self, cursor: Cursor, place: ReadPlace, coming: &HashSet<Cursor>) -> bool {
        self.log.publish(cursor).map_or_else(|| coming.contains(&cursor), |event| event.number >= place.end)
    }

    /// Lets times and ids go on from this time if they are far ahead of it; returns by how much they were. No change
    /// may be under way.
    pub(super) fn set_back(&mut self, to: Millis) -> Option<Millis> {
        let ahead = self.times.at().checked_sub(to).filter(|ahead| *ahead > FAR)?;
        self.take_course(&SequenceState { next: self.next, ..SequenceState::new(to) });
        Some(ahead)
    }

    /// Takes a number for a change that is about to be made. `latest` is the latest time in it.
    pub(super) fn take(&mut self, kind: EventKind, given: bool, latest: Millis) -> Event {
        let logged = self.times.at();
        self.top = self.top.max(logged).max(latest);
        let event = Event::new(self.next, kind, given, logged, self.top);
        self.next += 1;
        event
    }

    /// Takes numbers in a row for effects; returns the first one.
    pub(super) fn take_row(&mut self, many: u64) -> u64 {
        let first = self.next;
        self.next += many;
        self.effect = self.next - 1;
        first
    }

    /// The event of the publish of an item.
    pub(super) fn take_for(&mut self, item: &Publish) -> Event {
        let cursor = item.content.cursor();
        if item.time_given {
            self.times.pass(cursor);
        }
        let event = self.take(EventKind::Publish, !item.time_given, cursor.at);
        self.add(event.of(&item.content), false);
        event
    }

    /// Adds an event that is to be logged.
    pub(super) fn add(&mut self, event: Event, is_made: bool) {
        if event.given {
            self.given = self.given.or(Some(event.entry.cursor));
        }
        self.unlogged.push(Unlogged { event, is_made });
    }

    /// How many events are to be logged.
    pub(super) fn unlogged(&self) -> usize {
        self.unlogged.len()
    }

    /// The changes of the events from this place on are made, but for those that are not `kept`.
    pub(super) fn keep(&mut self, from: usize, kept: impl Fn(&Event) -> bool) {
        let changes = self.unlogged.split_off(from.min(self.unlogged.len()));
        let kept = changes.into_iter().filter(|of| kept(&of.event));
        self.unlogged.extend(kept.map(|of| Unlogged { is_made: true, ..of }));
        self.find_given();
    }

    fn find_given(&mut self) {
        self.given = self.unlogged.iter().find(|of| of.event.given).map(|of| of.event.entry.cursor);
    }

    /// Logs the events with numbers up to this one: they are on disk.
    pub(super) fn log(&mut self, until: u64) {
        let many = self.unlogged.partition_point(|of| of.event.number <= until);
        self.unlogged.drain(..many).for_each(|of| self.log.push(of.event));
        self.find_given();
    }

    /// All effects are on disk, or those of this group are not. Nobody may know of a number without a row: after a restart, the
    /// numbers go on behind the last row.
    pub(super) fn end(&mut self, is_written: bool) {
        match is_written {
            true => self.log.pass(self.effect),
            false => self.effect = self.log.end().saturating_sub(1),
        }
    }
}
