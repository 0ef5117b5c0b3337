//! One order for everything that happens.
//!
//! Every change of an item takes a number before it is written, under one lock; its event has the number, and is
//! written in the same change. Once it is on disk it is *ready*, and goes into the log as soon as no smaller
//! number is *in flight*: until each of those is on disk too, or has been given back because nothing was
//! changed. So the log has events in the order of their numbers, although changes are made side by side. The
//! changes of one item follow one another from the number to the write, so the order of their events is that in
//! which they were made.
//!
//! The time of an item that comes without one is decided under the same lock: these times, and the cursors made
//! of them, rise with the numbers, also from one run of the server to the next.
//!
//! Readers keep to that order too: a page leaves out what was not in the log when its read began
//! ([`Sequencer::later_than`]), and a change is answered once its event is ([`Sequencer::wait_until_logged`]). So who
//! goes on with `after` from the newest item of a page finds all that comes later.
//!
//! Who has a number never waits for one to come into the log.

use std::collections::{HashMap, HashSet};

use crossbeam_channel::Sender;

use super::log::Slice;
use super::sequencer_state::State;
use super::times::Crowded;
use crate::clock::{now, uptime};
use crate::model::{Content, ContentId, Cursor, Event, EventKind, Millis, Publish, Stamp};
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard};

/// Gives times, ids and numbers to what is changed, and events to those who listen.
#[derive(Debug)]
pub struct Sequencer {
    state: Mutex<State>,
    /// Something has come into the log.
    logged: Condvar,
    /// The end of the log, how many cursors given here are not in it yet, and how many events wait: what most ask,
    /// without the lock. The first is written before the others.
    end: AtomicU64,
    given: AtomicUsize,
    waiting: AtomicUsize,
    hint: Sender<()>,
}

/// Items that are being written. Those that were not committed give their numbers back when this is dropped.
#[derive(Debug)]
#[must_use = "the items give their numbers back when this is dropped"]
pub struct Flight<'a> {
    sequencer: &'a Sequencer,
    /// Not committed yet.
    stamps: HashMap<Cursor, (Stamp, Event)>,
}

/// A change of one item that is being written. Gives its number back when it is dropped.
#[derive(Debug)]
#[must_use = "the change gives its number back when this is dropped"]
pub struct Ticket<'a> {
    sequencer: &'a Sequencer,
    stamp: Stamp,
    over: bool,
}

impl Sequencer {
    /// A log that begins with nothing.
    pub(super) fn new(hint: Sender<()>) -> Self {
        let state = State::new(now(), false);
        let end = state.log.end();
        Self {
            state: Mutex::new(state),
            logged: Condvar::new(),
            end: AtomicU64::new(end),
            given: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            hint,
        }
    }

    /// Goes on behind the newest events on disk (ascending, [`Sequencer::KEPT`] of them or all), before anything
    /// else is asked of it. Where there are none, but content, nothing is known of what was before.
    pub fn restore(&self, newest: Vec<Event>, has_content: bool) {
        let all = newest.len() < Self::KEPT;
        let state = State::behind(newest, all, now()).unwrap_or_else(|| State::new(now(), has_content));
        let mut place = self.state.lock();
        *place = state;
        self.show_figures(&place);
    }

    /// Nobody can go on from before this: changes may be gone of which streams had told. The gap that says so, which is in
    /// the log in memory. Comes right after [`Sequencer::restore`].
    pub fn break_off(&self) -> Event {
        let mut state = self.state.lock();
        let gap = state.take(EventKind::Gap, false, 0).of_nothing();
        state.commit(gap);
        self.release(state);
        gap
    }

    /// How many events are kept in memory.
    pub const KEPT: usize = super::log::CAPACITY;

    /// The state, with times that have gone on with the clock.
    fn lock_on_time(&self) -> MutexGuard<'_, State> {
        let (now, uptime) = (now(), uptime());
        let mut state = self.state.lock();
        let behind = state.times.look(now, uptime);
        if let Some(behind) = behind {
            drop(state);
            tracing::warn!(
                "the clock is {behind} ms behind the times that the server gave before; new items get times from \
                 where those ended until the clock is there"
            );
            state = self.state.lock();
        }
        state
    }

    /// Has the figures that are read without the lock follow the state; before the lock is given back.
    fn show_figures(&self, state: &State) {
        self.end.store(state.log.end(), Ordering::SeqCst);
        self.given.store(state.given.len(), Ordering::SeqCst);
        self.waiting.store(state.waiting(), Ordering::SeqCst);
    }

    /// Lets out what is no longer held up, and gives the lock back.
    fn release(&self, mut state: MutexGuard<'_, State>) {
        state.release();
        self.show_figures(&state);
        drop(state);
        self.logged.notify_all();
        super::hint(&self.hint);
    }

    /// Decides time and id of the items that come without, anew at each call. The times that one call gives are
    /// the same, and cursors with given times rise from call to call. Fails, and nothing is taken, if
    /// that would take the times too far from the clock.
    fn name(&self, items: &mut [Publish]) -> Result<MutexGuard<'_, State>, Crowded> {
        let named: HashSet<ContentId> = items.iter().filter(|item| !item.id_made).map(|item| item.content.id).collect();
        let mut state = self.lock_on_time();
        let at = state.times.at();
        for item in items.iter_mut().filter(|item| item.id_made) {
            item.content.id = state.ids.next(at);
            while named.contains(&item.content.id) {
                item.content.id = state.ids.next(at);
            }
        }
        let timed = items.iter().filter(|item| !item.time_given).map(|item| item.content.id);
        if let Some((smallest, greatest)) = timed.clone().min().zip(timed.max()) {
            let given = state.times.give(smallest, greatest)?;
            for item in items.iter_mut().filter(|item| !item.time_given) {
                item.content.published_at = given;
            }
        }
        Ok(state)
    }

    /// Names items as [`Sequencer::begin`] does, without numbers.
    pub fn name_only(&self, items: &mut [Publish]) -> Result<(), Crowded> {
        self.name(items).map(|_| ())
    }

    /// Decides time and id of the items that come without, and takes a number for each item, in the order of
    /// their ids. Times are the same for all of one call, and cursors with given times rise from call to call.
    /// Fails, and nothing is taken, while the times given are too far ahead of the clock.
    pub fn begin(&self, items: &mut [Publish]) -> Result<Flight<'_>, Crowded> {
        let mut state = self.name(items)?;
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_unstable_by_key(|index| items[*index].content.id);
        let mut stamps = HashMap::with_capacity(items.len());
        for index in order {
            let item = &mut items[index];
            let stamp = state.take_for(item);
            item.stamp = Some(stamp);
            stamps.insert(item.content.cursor(), (stamp, stamp.event(&item.content)));
        }
        self.show_figures(&state);
        drop(state);
        Ok(Flight { sequencer: self, stamps })
    }

    /// Takes a number for a change of an item, which nobody else changes until it is written.
    pub fn take(&self, kind: EventKind) -> Ticket<'_> {
        self.ticket(kind, 0)
    }

    /// Takes a number for a gap: a change of items none of which is newer than `latest`, and that nobody is told of.
    pub fn gap(&self, latest: Millis) -> Ticket<'_> {
        self.ticket(EventKind::Gap, latest)
    }

    fn ticket(&self, kind: EventKind, latest: Millis) -> Ticket<'_> {
        let mut state = self.lock_on_time();
        let stamp = state.take(kind, false, latest);
        Ticket { sequencer: self, stamp, over: false }
    }

    /// After a made id was taken, so many times in a row: the next lie further on.
    pub fn skip_ids(&self, times: u32) {
        self.state.lock().ids.skip(times);
    }

    /// Waits until what is on disk of these publishes is in the log. The changes it waits for are under way, on
    /// other threads.
    pub fn wait_until_logged(&self, cursors: impl IntoIterator<Item = Cursor>) {
        if self.waiting.load(Ordering::SeqCst) == 0 {
            return;
        }
        let cursors: Vec<_> = cursors.into_iter().collect();
        self.wait_while(|state| cursors.iter().any(|cursor| state.unlogged.contains(cursor)));
    }

    fn wait_while(&self, holds: impl Fn(&State) -> bool) {
        self.logged.wait_while(&mut self.state.lock(), |state| holds(state));
    }

    /// Which of these items, that a read found which began when the log ended at `end`, came into the log since,
    /// or are not in it yet: none of them was acknowledged before, and others with smaller cursors may follow.
    /// Of items with times of the host's it is none: they have their own places, before or behind any reader.
    /// `None` for none of them, as it mostly is.
    pub fn later_than(&self, cursors: impl Iterator<Item = Cursor>, end: u64) -> Option<HashSet<Cursor>> {
        if self.given.load(Ordering::SeqCst) == 0 && self.end.load(Ordering::SeqCst) == end {
            return None;
        }
        let state = self.state.lock();
        let is_new = |cursor: &Cursor| match state.log.publish(*cursor) {
            Some(event) => event.given && event.number >= end,
            None => state.given.contains(cursor),
        };
        let new: HashSet<_> = cursors.filter(is_new).collect();
        Some(new).filter(|new| !new.is_empty())
    }

    /// A place after all that is in the log: above the numbers of all events so far, and a cursor that leads back
    /// to it.
    pub fn mark(&self) -> (u64, Cursor) {
        let state = self.state.lock();
        let last = state.log.last();
        (state.log.end(), last.map_or(Cursor::OLDEST, Event::place))
    }

    /// Above the numbers of all events so far, and not above those to come.
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::SeqCst)
    }

    /// At most `most` events from a number on, up to and without `end`.
    pub fn slice(&self, from: u64, end: u64, most: usize) -> Slice {
        self.state.lock().log.slice(from, end, most)
    }

    /// The number of the event to which this cursor leads, the publish of its item or its own, as far as memory
    /// goes back.
    pub fn place(&self, cursor: Cursor) -> Option<u64> {
        self.state.lock().log.place(cursor)
    }

    /// Whether the item with this cursor is being written and is not known to be on disk. It may be one that is there for
    /// long, and is published once more.
    pub fn is_coming(&self, cursor: Cursor) -> bool {
        self.state.lock().is_coming(cursor)
    }

    /// Changes that are being written, or wait for one with a smaller number.
    pub fn in_flight(&self) -> usize {
        self.state.lock().under_way()
    }

    /// Something has happened to an item, which is nowhere written.
    #[cfg(test)]
    pub(crate) fn changed(&self, kind: EventKind, entry: crate::model::Entry) {
        let ticket = self.take(kind);
        let event = Event { entry, broadcast: true, ..ticket.stamp().of_nothing() };
        ticket.end(event);
    }
}

impl Flight<'_> {
    /// The item with this cursor is on disk. Comes before anybody can change it.
    pub fn commit(&mut self, cursor: Cursor) {
        let Some((_, event)) = self.stamps.remove(&cursor) else { return };
        let mut state = self.sequencer.state.lock();
        state.commit(event);
        self.sequencer.release(state);
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if self.stamps.is_empty() {
            return;
        }
        let mut state = self.sequencer.state.lock();
        for (cursor, (stamp, _)) in self.stamps.drain() {
            state.give_back(stamp, Some(cursor));
        }
        self.sequencer.release(state);
    }
}

impl Ticket<'_> {
    /// What is written with the change.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// The change is on disk, of an item as it is now. Waits until its event is in the log, so nothing that the
    /// writes of others may wait for is held.
    pub fn commit(self, content: &Content) {
        let event = self.stamp.event(content);
        self.end(event);
    }

    /// The same for a gap.
    pub fn commit_gap(self) {
        let event = self.stamp.of_nothing();
        self.end(event);
    }

    fn end(mut self, event: Event) {
        self.over = true;
        let sequencer = self.sequencer;
        let mut state = sequencer.state.lock();
        state.commit(event);
        sequencer.release(state);
        sequencer.wait_while(|state| state.is_ready(event.number));
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if !self.over {
            let mut state = self.sequencer.state.lock();
            state.give_back(self.stamp, None);
            self.sequencer.release(state);
        }
    }
}

#[cfg(test)]
mod tests;
