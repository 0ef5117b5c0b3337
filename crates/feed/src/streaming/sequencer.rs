//! One order for all events.
//!
//! Every change of an item takes a number before it is written. Its event has the number, and is written in the same change. Once
//! that is on disk, the event enters the log. One thread makes all changes, so the log has the events in the order of their
//! numbers. Effects take the next numbers once their change is made. The end of the log passes them, and streams do not get them.
//!
//! Missing times of items are decided here, too: these times, and the cursors made of them, rise with the numbers, also across
//! restarts.
//!
//! Readers follow that order: a page leaves out items that were not in the log when its read began
//! ([`Sequencer::later_than`]), and a change is answered once its event is in the log. An item with a time of the application that has
//! come takes its place among the cursors given here, so all that are given later are above it. For other items there is a
//! bound, [`Sequencer::open`], and no client goes on with `after` from above it. So a client that goes on with `after` finds all
//! later items with times given here. Readers take the lock only for items about as new as the end of the log.

use std::collections::HashSet;

use crossbeam_channel::Sender;

use super::change_time::ChangeTime;
use super::log::Slice;
use super::sequence_state::SequenceState;
use super::sequencer_state::{ReadPlace, State};
use super::times::Crowded;
use model::clock::now;
use model::sync::atomic::{AtomicU64, Ordering};
use model::sync::{Mutex, MutexGuard};
use model::{Changed, ContentId, Cursor, Effect, Event, EventKind, Logged, Millis, Publish};

/// Gives times, ids and numbers to changes, and events to streams.
#[derive(Debug)]
pub struct Sequencer {
    state: Mutex<State>,
    /// Figures of the state, to be read without the lock: the end of the log, and a time before which no item gets its time any
    /// more, except those in the log.
    end: AtomicU64,
    open_from: AtomicU64,
    hint: Sender<()>,
}

impl Sequencer {
    /// An empty log.
    pub(super) fn new(hint: Sender<()>) -> Self {
        let state = State::behind(None, now());
        let (end, open_from) = (state.log.end(), state.open_from());
        Self { state: Mutex::new(state), end: AtomicU64::new(end), open_from: AtomicU64::new(open_from), hint }
    }

    /// Continues after the last row on disk, which is given as a mark. Without one the log begins. Must be the first call.
    pub(crate) fn restore(&self, last: Option<Event>) {
        self.change(|state| *state = State::behind(last, now()));
    }

    /// All that the next times, ids and numbers of events depend on.
    pub fn sequence(&self) -> SequenceState {
        self.state().sequence
    }

    /// Goes on from a state, also back. No change may be under way.
    pub fn go_on_from(&self, sequence: &SequenceState) {
        self.change(|state| state.go_on_from(*sequence));
    }

    /// Lets times and ids go on from this time if they are far ahead of it, and returns by how much they were. Cursors then do
    /// not rise any more, so a gap must follow. No change may be under way.
    pub fn set_back(&self, to: Millis) -> Option<Millis> {
        self.change(|state| state.set_back(to))
    }

    /// Adds a gap to the log in memory and returns it: changes that streams have sent may be lost, so no client can
    /// resume before it. Must come right after `Sequencer::restore` or [`Sequencer::set_back`].
    pub fn break_off(&self) -> Event {
        self.change(|state| {
            let gap = state.take(EventKind::Gap, false, 0);
            state.log.push(gap.clone());
            gap
        })
    }

    /// Begins a group of changes at a time. No time given from now on is earlier.
    pub fn begin_group(&self, at: ChangeTime) {
        let behind = self.change(|state| state.begin_group(at));
        if let Some(behind_ms) = behind {
            tracing::warn!(
                behind_ms,
                "the clock is behind the times of earlier items; until it catches up, new items get times just after \
                 those"
            );
        }
    }

    /// The state, for reads and for changes after which its figures are the same.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes the state. Then its figures are shown, and streams are woken if the log has grown.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state();
        let changed = change(&mut state);
        let end = state.log.end();
        let before = self.end.swap(end, Ordering::SeqCst);
        self.open_from.store(state.open_from(), Ordering::SeqCst);
        if end != before {
            super::hint(&self.hint);
        }
        changed
    }

    /// Sets ids that the server with this number has never given. At a further attempt, because some were taken all the same,
    /// it skips the more ids the more attempts there were.
    pub fn make_ids<'i>(&self, ids: impl IntoIterator<Item = &'i mut ContentId>, server: u16, attempt: u32) {
        let mut state = self.state();
        if attempt > 0 {
            state.sequence.skip_ids(attempt - 1);
        }
        ids.into_iter().for_each(|id| *id = state.sequence.next_id(server));
    }

    /// Sets missing times, and takes a number for each item, in the order of their ids. One call gives one time, and cursors with
    /// given times rise from call to call. Fails, and takes no number, while the times given are too far ahead of the clock.
    pub fn begin(&self, items: &mut [Publish]) -> Result<(), Crowded> {
        let mut state = self.state();
        state.time(items)?;
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_unstable_by_key(|index| items[*index].content.id);
        for index in order {
            let item = &mut items[index];
            let cursor = item.content.cursor();
            if item.time_given {
                state.sequence.pass(cursor);
            }
            item.event = Some(state.take(EventKind::Publish, !item.time_given, cursor.at));
        }
        Ok(())
    }

    /// Takes a number for a change of an item.
    pub fn take(&self, kind: EventKind) -> Event {
        self.state().take(kind, false, 0)
    }

    /// Sets missing times as [`Sequencer::begin`] does, and takes one number for all items: that of a gap, a change
    /// without events. Returns the event for the log in memory: it has the smallest cursor given.
    pub fn gap(&self, items: &mut [Publish]) -> Result<Event, Crowded> {
        let mut state = self.state();
        state.time(items)?;
        items.iter().filter(|item| item.time_given).for_each(|item| state.sequence.pass(item.content.cursor()));
        let given = items.iter().filter(|item| !item.time_given).map(|item| item.content.cursor()).min();
        let latest = items.iter().map(|item| item.content.published_at).max().unwrap_or_default();
        let event = state.take(EventKind::Gap, false, latest);
        items.iter_mut().for_each(|item| item.event = Some(event.clone()));
        let mut gap = event;
        if let Some(given) = given {
            (gap.given, gap.entry.cursor) = (true, given);
        }
        Ok(gap)
    }

    /// The group is written now, with these events, ascending: reads leave its items out until they are in the log.
    pub fn write_group(&self, events: Vec<Event>) {
        self.state().coming = events;
    }

    /// Ends a group of changes. If they are on disk, all their events and effects are in the log.
    pub fn end_group(&self, is_written: bool) {
        self.change(|state| state.end_group(is_written));
    }

    /// Gives numbers to the effects of a change.
    pub(crate) fn number(&self, effects: Vec<Effect>) -> Vec<Logged> {
        let mut state = self.state();
        let (first, at) = (state.take_row(effects.len() as u64), state.sequence.at);
        state.sequence.top = state.sequence.top.max(at);
        let top = state.sequence.top;
        drop(state);
        let row = |(number, effect)| Logged::Effect { changed: Changed { number, at, effect }, top };
        (first..).zip(effects).map(row).collect()
    }

    /// The time from which on notices may still come: those before it are visible, but for ones with a time of the application. Also
    /// whether a group of changes under way decides it.
    pub(crate) fn complete(&self) -> (Millis, bool) {
        let state = self.state();
        let now = now();
        state.group.filter(|group| group.at <= now).map_or((now, false), |group| (group.at, true))
    }

    /// Whether an item with this id gets no time at present: those given are too far ahead of the clock.
    pub fn is_crowded(&self, id: u64) -> bool {
        self.state().sequence.is_crowded(id)
    }

    /// The place of a read that begins now.
    pub fn read_place(&self) -> ReadPlace {
        // In this order: what is in the log up to `open_from` is then before `end`, too.
        let open_from = self.open_from.load(Ordering::SeqCst);
        ReadPlace { end: self.end(), open_from }
    }

    /// Of items found by a read that began at `place`: those that entered the log since, or are not in it yet. None of
    /// them was acknowledged before, and items with smaller cursors may follow. `None` if there are none, as is usual.
    /// Takes no lock unless an item is about as new as the end of the log.
    pub fn later_than(&self, cursors: impl Iterator<Item = Cursor>, place: ReadPlace) -> Option<HashSet<Cursor>> {
        let mut recent = cursors.filter(|cursor| !place.is_above(*cursor)).peekable();
        recent.peek()?;
        let state = self.state();
        let published = state.coming.iter().filter(|event| event.given || event.kind == EventKind::Publish);
        let coming: HashSet<_> = published.map(|event| event.entry.cursor).collect();
        let new: HashSet<_> = recent.filter(|cursor| state.is_later(*cursor, place, &coming)).collect();
        Some(new).filter(|new| !new.is_empty())
    }

    /// The open end of the order for a read that began at `place`: every item with a time given here that was not in the
    /// log then has this cursor or a greater one, also if it is published later. No later change lies before `time`; so
    /// from now on none gets an earlier time, whatever the clock does.
    pub fn open(&self, place: ReadPlace, time: Millis) -> Cursor {
        self.change(|state| state.open(place, time))
    }

    /// The end of the log: a number above those of all events so far, and a cursor that leads back to it.
    pub fn mark(&self) -> (u64, Cursor) {
        let state = self.state();
        let last = state.log.last();
        (state.log.end(), last.map_or(Cursor::OLDEST, Event::place))
    }

    /// A number above those of all events so far, and not above those to come.
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::SeqCst)
    }

    /// At most `most` events from a number on, up to and without `end`.
    pub fn slice(&self, from: u64, end: u64, most: usize) -> Slice {
        self.state().log.slice(from, end, most)
    }

    /// The number of the event to which this cursor leads: the publish of its item, or the event of which it is the
    /// place. Only of events in memory.
    pub fn place(&self, cursor: Cursor) -> Option<u64> {
        self.state().log.place(cursor)
    }
}
