//! The state of the [`Sequencer`](super::Sequencer): what the next change gets, and the log.

use std::collections::HashSet;

use super::change_time::ChangeTime;
use super::log::Log;
use super::sequence_state::SequenceState;
use super::times::{Crowded, FAR};
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

/// A group of changes under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Began {
    pub(super) at: Millis,
    /// No item gets a smaller cursor with a time given here.
    open: Cursor,
}

/// Locked as a whole.
#[derive(Debug)]
pub(super) struct State {
    /// The state from which the next times, ids and numbers follow.
    pub(super) sequence: SequenceState,
    /// Whether it was reported that the clock is behind.
    is_reported: bool,
    /// The group that is under way.
    pub(super) group: Option<Began>,
    /// The number of the last effect.
    effect: u64,
    /// Events of the group, which is being written or was written just now, ascending.
    pub(super) coming: Vec<Event>,
    /// The latest time of which a reader was told that no later item gets an earlier one.
    told: Millis,
    pub(super) log: Log,
}

impl State {
    /// A log that continues after the last row on disk, which is given as a mark. Without one it begins now.
    pub(super) fn behind(last: Option<Event>, now: Millis) -> Self {
        // Later than every time given before.
        let at = last.as_ref().map_or(now, |last| now.max(last.logged + 1));
        let last = last.unwrap_or_else(|| Event::new(0, EventKind::Mark, false, now, now));
        let sequence = SequenceState { next: last.number + 1, top: last.top.max(at), ..SequenceState::new(at) };
        let log = Log::behind(last);
        Self { sequence, is_reported: false, group: None, effect: 0, coming: Vec::new(), told: 0, log }
    }

    /// Goes on from a state, also back. No change may be under way.
    pub(super) fn go_on_from(&mut self, sequence: SequenceState) {
        self.sequence = sequence;
        self.effect = self.effect.min(sequence.next - 1);
    }

    /// Begins a group at a time. At the clock, no time is given any more that readers are told is over; the times of a command
    /// log keep to that by themselves. The first time that the clock is far behind, returns by how much.
    pub(super) fn begin_group(&mut self, at: ChangeTime) -> Option<Millis> {
        let now = at.now();
        let behind = self.sequence.look(now, at.uptime());
        if at == ChangeTime::Clock {
            self.sequence.at = self.sequence.at.max(self.told);
        }
        self.group = Some(Began { at: now, open: self.sequence.next_cursor(self.told) });
        let was_reported = std::mem::replace(&mut self.is_reported, behind > FAR);
        Some(behind).filter(|_| self.is_reported && !was_reported)
    }

    /// A time before which no item gets its time any more, except those that are in the log.
    pub(super) fn open_from(&self) -> Millis {
        self.group.map_or_else(|| self.sequence.next_cursor(self.told), |group| group.open).at
    }

    /// See [`Sequencer::open`](super::Sequencer::open).
    pub(super) fn open(&mut self, place: ReadPlace, time: Millis) -> Cursor {
        self.told = self.told.max(time);
        if place.end < self.log.begin() {
            return Cursor { at: place.open_from, id: ContentId::MIN };
        }
        let since = self.log.first_given(place.end).or(self.group.map(|group| group.open));
        since.unwrap_or_else(|| self.sequence.next_cursor(self.told))
    }

    /// Whether an item is one of those that are coming, or entered the log since a read began.
    pub(super) fn is_later(&self, cursor: Cursor, place: ReadPlace, coming: &HashSet<Cursor>) -> bool {
        self.log.publish(cursor).map_or_else(|| coming.contains(&cursor), |event| event.number >= place.end)
    }

    /// Lets times and ids go on from this time if they are far ahead of it; returns by how much they were. No change
    /// may be under way.
    pub(super) fn set_back(&mut self, to: Millis) -> Option<Millis> {
        let ahead = self.sequence.at.checked_sub(to).filter(|ahead| *ahead > FAR)?;
        self.go_on_from(SequenceState { next: self.sequence.next, ..SequenceState::new(to) });
        Some(ahead)
    }

    /// Sets missing times. One call gives one time, and cursors with given times rise from call to call. Fails, and gives no
    /// time, if times would get too far from the clock.
    pub(super) fn time(&mut self, items: &mut [Publish]) -> Result<(), Crowded> {
        let timed = items.iter().filter(|item| !item.time_given).map(|item| item.content.id);
        if let Some((smallest, greatest)) = timed.clone().min().zip(timed.max()) {
            let given = self.sequence.give(smallest, greatest)?;
            for item in items.iter_mut().filter(|item| !item.time_given) {
                item.content.published_at = given;
            }
        }
        Ok(())
    }

    /// Takes a number for a change that is about to be made. `latest` is the latest time in it.
    pub(super) fn take(&mut self, kind: EventKind, given: bool, latest: Millis) -> Event {
        let logged = self.sequence.at;
        self.sequence.top = self.sequence.top.max(logged).max(latest);
        let event = Event::new(self.sequence.next, kind, given, logged, self.sequence.top);
        self.sequence.next += 1;
        event
    }

    /// Takes numbers in a row for effects; returns the first one.
    pub(super) fn take_row(&mut self, many: u64) -> u64 {
        let first = self.sequence.next;
        self.sequence.next += many;
        self.effect = self.sequence.next - 1;
        first
    }

    /// Ends the group. If it is on disk, its events and effects are in the log. Nobody may know of a number without a row: after a
    /// restart, the numbers go on behind the last row.
    pub(super) fn end_group(&mut self, is_written: bool) {
        self.group = None;
        let events = std::mem::take(&mut self.coming);
        if is_written {
            events.into_iter().for_each(|event| self.log.push(event));
            self.log.pass(self.effect);
        } else {
            self.effect = self.log.end().saturating_sub(1);
        }
    }
}
