//! One order for everything that happens.
//!
//! The time of an item that comes without one is decided here, under the lock under which the item
//! becomes *in flight*; so these times, and the cursors made of them, rise in the order of the lock.
//! Once the item is on disk it is *ready*, and goes into the log as soon as no smaller cursor is in
//! flight. So items with times of the server are in the log in the order of their cursors, although
//! they are written side by side. An item with a time of the host's lands wherever the log is when it
//! is committed: its cursor may be of long ago.
//!
//! Readers keep to that order too: a page leaves out what was not in the log when its read began
//! ([`Sequencer::unsettled`]), and a publish is answered once its items are ([`Sequencer::settle`]). So who
//! goes on with `after` from the newest item of a page finds all that comes later.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crossbeam_channel::Sender;

use super::ids::IdMaker;
use super::log::{Kind, Log, Slice};
use super::order::State;
use crate::model::{ContentId, Cursor, Entry, Publish, UserId};
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Gives times and ids to what is published, and events to those who listen.
#[derive(Debug)]
pub struct Sequencer {
    state: Mutex<State>,
    /// Something has come into the log.
    logged: Condvar,
    /// The end of the log, and how many cursors given here are not in it yet: what most reads ask, without the lock.
    /// The first is written before the second.
    end: AtomicU64,
    unlogged: AtomicUsize,
    hint: Sender<()>,
}

/// Items that are being written. Those that were not committed leave the flight when this is dropped.
#[derive(Debug)]
#[must_use = "the items leave the flight when this is dropped"]
pub struct Flight<'a> {
    sequencer: &'a Sequencer,
    /// Not committed yet, and whether their cursors are of the host's making.
    cursors: HashMap<Cursor, bool>,
}

impl Sequencer {
    pub(super) fn new(hint: Sender<()>) -> Self {
        let state = State {
            last: Cursor::OLDEST,
            in_flight: BTreeSet::new(),
            late: HashMap::new(),
            ready: BTreeMap::new(),
            log: Log::default(),
            ids: IdMaker::default(),
        };
        Self {
            state: Mutex::new(state),
            logged: Condvar::new(),
            end: AtomicU64::new(0),
            unlogged: AtomicUsize::new(0),
            hint,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the figures that are read without the lock follow the state; before the lock is given back.
    fn show_figures(&self, state: &State) {
        self.end.store(state.log.end(), Ordering::SeqCst);
        self.unlogged.store(state.in_flight.len() + state.ready.len(), Ordering::SeqCst);
    }

    /// Decides time and id of the items that come without, anew at each call, and has the broadcast
    /// ones in flight. Times that are given here never go back, and fall at one call only where ids do.
    pub fn begin(&self, items: &mut [Publish]) -> Flight<'_> {
        let named: HashSet<ContentId> = items.iter().filter(|item| !item.id_made).map(|item| item.content.id).collect();
        let mut state = self.lock();
        for item in items.iter_mut().filter(|item| item.id_made) {
            item.content.id = state.ids.next();
            while named.contains(&item.content.id) {
                item.content.id = state.ids.next();
            }
        }
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_unstable_by_key(|index| items[*index].content.id);
        let mut cursors = HashMap::new();
        for index in order {
            let Publish { content, time_given, .. } = &mut items[index];
            let in_order = !*time_given && {
                let (at, in_order) = state.next_time(content.id);
                content.published_at = at;
                in_order
            };
            if content.broadcast {
                state.enter(content.cursor(), in_order);
                cursors.insert(content.cursor(), !in_order);
            }
        }
        self.show_figures(&state);
        drop(state);
        Flight { sequencer: self, cursors }
    }

    /// Waits until what is on disk of these items is in the log. The writes it waits for are under way, on
    /// other threads.
    pub fn settle(&self, cursors: impl IntoIterator<Item = Cursor>) {
        if self.unlogged.load(Ordering::SeqCst) == 0 {
            return;
        }
        let cursors: Vec<_> = cursors.into_iter().collect();
        let mut state = self.lock();
        while cursors.iter().any(|cursor| state.ready.contains_key(cursor)) {
            state = self.logged.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Which of these items, that a read found which began when the log ended at `end`, came into the log since,
    /// or are not in it yet: none of them was acknowledged before, and others with smaller cursors may follow.
    /// `None` for none of them, as it mostly is.
    pub fn unsettled(&self, cursors: impl Iterator<Item = Cursor>, end: u64) -> Option<HashSet<Cursor>> {
        if self.unlogged.load(Ordering::SeqCst) == 0 && self.end.load(Ordering::SeqCst) == end {
            return None;
        }
        let state = self.lock();
        let is_new = |cursor: &Cursor| {
            state.in_flight.contains(cursor)
                || state.ready.contains_key(cursor)
                || state.log.place(*cursor).is_some_and(|place| place >= end)
        };
        let new: HashSet<_> = cursors.filter(is_new).collect();
        Some(new).filter(|new| !new.is_empty())
    }

    /// An item that is in the log, or on its way there, was edited, deleted or restored.
    pub fn changed(&self, kind: Kind, entry: Entry) {
        let mut state = self.lock();
        match state.ready.get_mut(&entry.cursor) {
            // Not before the item itself.
            Some(events) => events.push((kind, entry)),
            None => state.log(kind, entry),
        }
        self.show_figures(&state);
        drop(state);
        super::hint(&self.hint);
    }

    /// A place after all that is in the log: its position, and a cursor that leads back to it.
    pub fn mark(&self) -> (u64, Cursor) {
        let mut state = self.lock();
        if let Some(mark) = state.log.last().filter(|event| event.kind == Kind::Mark) {
            let cursor = mark.entry.cursor;
            return (state.log.end(), cursor);
        }
        let cursor = state.own_cursor();
        state.log(Kind::Mark, Entry { cursor, author: UserId::MIN });
        self.show_figures(&state);
        (state.log.end(), cursor)
    }

    /// The position that the next event gets.
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::SeqCst)
    }

    /// At most `most` events from a position on, up to and without `end`.
    pub fn slice(&self, from: u64, end: u64, most: usize) -> Slice {
        self.lock().log.slice(from, end, most)
    }

    /// Where the publish, restore or mark to which this cursor leads stands, as far as the log goes back.
    pub fn place(&self, cursor: Cursor) -> Option<u64> {
        self.lock().log.place(cursor)
    }

    /// Whether the log has each of these publishes, or will have it. `None` as long as it is being written: of
    /// what turns out to be there already, or fails, nothing comes into the log.
    pub fn knows(&self, cursors: &[Cursor]) -> Vec<Option<bool>> {
        let state = self.lock();
        let known = |cursor: &Cursor| {
            let known = state.log.place(*cursor).is_some() || state.ready.contains_key(cursor);
            let open = state.in_flight.contains(cursor) || state.late.contains_key(cursor);
            (known || !open).then_some(known)
        };
        cursors.iter().map(known).collect()
    }

    /// Items that are being written, or wait for one with a smaller cursor.
    pub fn in_flight(&self) -> usize {
        let state = self.lock();
        state.in_flight.len() + state.late.len() + state.ready.len()
    }
}

impl Flight<'_> {
    /// An item of the flight is on disk. Comes before anybody can change it.
    pub fn commit(&mut self, entry: Entry) {
        let Some(late) = self.cursors.remove(&entry.cursor) else { return };
        let mut state = self.sequencer.lock();
        state.leave(entry.cursor, late);
        if late {
            state.log(Kind::Publish, entry);
        } else {
            state.ready.insert(entry.cursor, vec![(Kind::Publish, entry)]);
            state.release();
        }
        self.sequencer.show_figures(&state);
        drop(state);
        self.sequencer.logged.notify_all();
        super::hint(&self.sequencer.hint);
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if self.cursors.is_empty() {
            return;
        }
        let mut state = self.sequencer.lock();
        for (cursor, late) in self.cursors.drain() {
            state.leave(cursor, late);
        }
        state.release();
        self.sequencer.show_figures(&state);
        drop(state);
        self.sequencer.logged.notify_all();
        super::hint(&self.sequencer.hint);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::log::Event;
    use super::super::order::MOST_AHEAD;
    use super::*;
    use crate::clock::now;
    use crate::model::{Content, Id, Millis};

    fn sequencer() -> Sequencer {
        Sequencer::new(crossbeam_channel::bounded(1).0)
    }

    /// An item as a host names it; a field that is 0 is left open.
    fn item(id: u64, at: Millis, broadcast: bool) -> Publish {
        let content = Content {
            id: ContentId::new(id).unwrap_or(ContentId::MIN),
            author: UserId::MIN,
            published_at: at,
            edited_at: None,
            kind: "post".to_owned(),
            text: None,
            media: "[]".to_owned(),
            topics: vec![],
            ref_id: None,
            extra: None,
            broadcast,
            fingerprint: 0,
        };
        Publish { content, time_given: at > 0, id_made: id == 0 }
    }

    fn entry(item: &Publish) -> Entry {
        item.content.entry()
    }

    /// The log: what happened to which cursor.
    fn logged(sequencer: &Sequencer) -> Vec<(Kind, Cursor)> {
        let events = sequencer.slice(0, u64::MAX, usize::MAX).events;
        events.into_iter().map(|event| (event.kind, event.entry.cursor)).collect()
    }

    fn published(items: &[&Publish]) -> Vec<(Kind, Cursor)> {
        items.iter().map(|item| (Kind::Publish, item.content.cursor())).collect()
    }

    #[test]
    fn what_is_committed_early_waits_for_what_was_begun_before() {
        let sequencer = sequencer();
        let (mut first, mut second, mut third) = ([item(0, 0, true)], [item(0, 0, true)], [item(0, 0, true)]);
        let (mut a, mut b, c) =
            (sequencer.begin(&mut first), sequencer.begin(&mut second), sequencer.begin(&mut third));
        b.commit(entry(&second[0]));
        // Once on disk it may be changed, and its readers are to know in the order of things.
        sequencer.changed(Kind::Edit, entry(&second[0]));
        assert_eq!((logged(&sequencer), sequencer.in_flight()), (vec![], 3));
        assert_eq!(sequencer.knows(&[second[0].content.cursor(), third[0].content.cursor()]), [Some(true), None]);
        a.commit(entry(&first[0]));
        let mut expected = published(&[&first[0], &second[0]]);
        expected.push((Kind::Edit, second[0].content.cursor()));
        assert_eq!(logged(&sequencer), expected);
        drop((a, b, c));
        assert_eq!((logged(&sequencer), sequencer.in_flight()), (expected, 0));
        assert_eq!(sequencer.knows(&[third[0].content.cursor()]), [Some(false)], "it was never written");
    }

    #[test]
    fn a_failure_and_a_panic_hold_nobody_up() {
        let sequencer = Arc::new(sequencer());
        let panics = Arc::clone(&sequencer);
        let died = std::thread::spawn(move || {
            let _flight = panics.begin(&mut [item(0, 0, true), item(7, 7, true)]);
            panic!("on purpose");
        });
        assert!(died.join().is_err());
        let mut failed = [item(0, 0, true)];
        let flight = sequencer.begin(&mut failed);
        let mut good = [item(0, 0, true)];
        let mut after = sequencer.begin(&mut good);
        after.commit(entry(&good[0]));
        assert_eq!(logged(&sequencer), []);
        drop(flight);
        assert_eq!(logged(&sequencer), published(&[&good[0]]));
        assert_eq!(sequencer.in_flight(), 0);
    }

    #[test]
    fn late_items_wait_for_nobody_and_nobody_for_them() {
        let sequencer = sequencer();
        let (mut now, mut late) = ([item(0, 0, true)], [item(5, 1000, true)]);
        let mut a = sequencer.begin(&mut now);
        let mut b = sequencer.begin(&mut late);
        let again = sequencer.begin(&mut late.clone());
        assert_eq!(late[0].content.published_at, 1000, "the time is the host's");
        b.commit(entry(&late[0]));
        drop((b, again));
        assert_eq!(logged(&sequencer), published(&[&late[0]]));
        a.commit(entry(&now[0]));
        drop(a);
        assert_eq!((logged(&sequencer), sequencer.in_flight()), (published(&[&late[0], &now[0]]), 0));
    }

    #[test]
    fn given_cursors_rise_whatever_ids_the_host_names() {
        let sequencer = sequencer();
        let mut last = Cursor::OLDEST;
        for id in (1..100).rev() {
            let mut items = [item(id, 0, true)];
            drop(sequencer.begin(&mut items));
            assert!(items[0].content.cursor() > last);
            last = items[0].content.cursor();
        }
        let ahead = last.at.saturating_sub(now());
        assert!(ahead <= 100, "{ahead}");
        let mut batch: Vec<_> = (200..210).rev().map(|id| item(id, 0, true)).chain([item(0, 0, true)]).collect();
        let mut flight = sequencer.begin(&mut batch);
        batch.iter().for_each(|item| flight.commit(entry(item)));
        drop(flight);
        let times: HashSet<_> = batch.iter().map(|item| item.content.published_at).collect();
        assert_eq!(times.len(), 1, "one call, one time");
        assert!(logged(&sequencer).is_sorted_by_key(|(_, cursor)| *cursor));
        assert_eq!(logged(&sequencer).len(), 11);
        // However fast ids fall, times stay near the clock.
        for id in (1..3000).rev() {
            let mut items = [item(id, 0, true)];
            drop(sequencer.begin(&mut items));
            assert!(items[0].content.published_at <= now() + MOST_AHEAD);
        }
    }

    #[test]
    fn made_ids_are_anew_at_each_call_and_never_one_of_the_named() {
        let sequencer = sequencer();
        let mut items = [item(0, 0, true), item(0, 0, false)];
        drop(sequencer.begin(&mut items));
        let first = items[0].content.id;
        assert!(items[1].content.id > first);
        let named = ContentId::new(first.get() + 2).expect("in range");
        let mut items = [item(0, 0, true), item(named.get(), 0, true)];
        drop(sequencer.begin(&mut items));
        assert!(items[0].content.id > first && items[0].content.id != named);
        let (mut quiet, next) = ([item(0, 0, false)], named.next_greater());
        let flight = sequencer.begin(&mut quiet);
        assert!(Some(quiet[0].content.id) >= next);
        assert_eq!(sequencer.in_flight(), 0, "who is not broadcast, nobody is told of");
        drop(flight);
    }

    #[test]
    fn a_mark_leads_to_its_place() {
        let sequencer = sequencer();
        let (end, mark) = sequencer.mark();
        assert_eq!(sequencer.mark(), (end, mark), "nothing happened since");
        assert_eq!((sequencer.place(mark), sequencer.end()), (Some(0), 1));
        let mut items = [item(0, 0, true)];
        let mut flight = sequencer.begin(&mut items);
        assert!(items[0].content.cursor() > mark);
        sequencer.changed(Kind::Delete, entry(&items[0]));
        let (_, below) = sequencer.mark();
        assert!(below < items[0].content.cursor(), "what is on its way will be news");
        flight.commit(entry(&items[0]));
        assert_eq!(sequencer.place(items[0].content.cursor()), Some(3));
    }

    #[test]
    fn a_restore_is_a_place_behind_the_publish() {
        let sequencer = sequencer();
        let mut old = [item(5, 1000, true)];
        sequencer.begin(&mut old).commit(entry(&old[0]));
        let mut items = [item(0, 0, true)];
        let flight = sequencer.begin(&mut items);
        // Twice, for each is a place.
        for kind in [Kind::Delete, Kind::Restore, Kind::Delete, Kind::Restore] {
            sequencer.changed(kind, entry(&old[0]));
        }
        let events = sequencer.slice(0, u64::MAX, 9).events;
        let places: Vec<_> =
            [0, 2, 4].map(|index: usize| events[index].place).map(|place| sequencer.place(place)).into();
        assert_eq!(places, [Some(0), Some(2), Some(4)]);
        assert_eq!(events[0].place, old[0].content.cursor());
        let below = |event: &Event| event.place < items[0].content.cursor() && event.place > old[0].content.cursor();
        assert!(below(&events[2]) && below(&events[4]), "what is on its way will be news");
        drop(flight);
    }
}
