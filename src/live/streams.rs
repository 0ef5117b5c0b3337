//! The open streams, and which of them an author's items go to.
//!
//! For each author there is a list of the streams that show it, so an event costs as much as it has
//! listeners, however many streams there are. A change of what a reader sees makes its streams
//! *stale* before it is acknowledged. A stale stream gives nothing out, and no event is delivered to
//! anybody, until its authors have been read again; then what waited of others is dropped.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crossbeam_channel::Sender;

use super::presence::Presence;
use super::queue::{Frame, Item, Memory, Pushed, Queue};
use super::sequencer::Sequencer;
use crate::model::{Cursor, Fill, UserId};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Names a stream; never used again.
type Id = u64;

#[derive(Debug)]
struct Slot {
    reader: UserId,
    queue: Arc<Queue>,
    /// Whose items it shows, ascending.
    authors: Arc<[UserId]>,
    /// The position of the first event that is its.
    from: u64,
    /// How often its reader's authors have changed.
    changes: u64,
    stale: bool,
}

#[derive(Debug, Default)]
struct State {
    next: Id,
    slots: HashMap<Id, Slot>,
    /// Sets, for many streams may end at once that show the same authors.
    by_author: HashMap<UserId, HashSet<Id>>,
    by_reader: HashMap<UserId, HashSet<Id>>,
    /// Stale streams, each once.
    stale: Vec<Id>,
    closed: bool,
}

/// A stream whose authors are to be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stale {
    id: Id,
    changes: u64,
    /// Whose authors.
    pub reader: UserId,
}

/// The streams in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamsUsage {
    /// Open ones.
    pub open: u64,
    /// Events that were put into queues, each counted for every stream.
    pub events: u64,
    /// Times a client lagged so far behind that it lost events.
    pub resets: u64,
    /// Memory of what waits to be sent, bytes.
    pub memory: Fill,
}

/// No more streams: the server stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// All open streams.
#[derive(Debug)]
pub struct Streams {
    state: Arc<Mutex<State>>,
    sequencer: Arc<Sequencer>,
    presence: Arc<Presence>,
    hint: Sender<()>,
    memory: Memory,
    events: AtomicU64,
    resets: AtomicU64,
}

/// One open stream. Its reader is online until it is dropped.
#[derive(Debug)]
pub struct Stream {
    id: Id,
    reader: UserId,
    queue: Arc<Queue>,
    start: (u64, Cursor),
    state: Arc<Mutex<State>>,
    presence: Arc<Presence>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Streams {
    pub(super) fn new(sequencer: Arc<Sequencer>, presence: Arc<Presence>, hint: Sender<()>) -> Self {
        Self {
            state: Arc::default(),
            sequencer,
            presence,
            hint,
            memory: Memory::default(),
            events: AtomicU64::new(0),
            resets: AtomicU64::new(0),
        }
    }

    /// Opens a stream. It gets every event that comes into the log from here on, and none before.
    pub fn open(&self, reader: UserId) -> Result<Stream, Closed> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(Closed);
        }
        // Under the lock, for which the delivery of whatever comes after this place waits.
        let start = self.sequencer.mark();
        let id = state.next;
        state.next += 1;
        let queue = Arc::new(Queue::default());
        let slot =
            Slot { reader, queue: Arc::clone(&queue), authors: [].into(), from: start.0, changes: 0, stale: false };
        state.slots.insert(id, slot);
        state.by_reader.entry(reader).or_default().insert(id);
        state.unsettle(id);
        drop(state);
        self.presence.connect(reader);
        super::hint(&self.hint);
        let (state, presence) = (Arc::clone(&self.state), Arc::clone(&self.presence));
        Ok(Stream { id, reader, queue, start, state, presence })
    }

    /// What a reader sees has changed. Comes after the change is written and before it is acknowledged.
    pub fn unsettle(&self, reader: UserId) {
        let mut state = lock(&self.state);
        let Some(ids) = state.by_reader.get(&reader).cloned() else { return };
        for id in ids {
            state.unsettle(id);
        }
        drop(state);
        super::hint(&self.hint);
    }

    /// Streams whose authors are to be read before anything can be delivered.
    pub fn stale(&self) -> Vec<Stale> {
        let mut state = lock(&self.state);
        let state = &mut *state;
        state.stale.retain(|id| state.slots.contains_key(id));
        let named = state.stale.iter().filter_map(|id| state.slots.get(id).map(|slot| (*id, slot)));
        named.map(|(id, slot)| Stale { id, changes: slot.changes, reader: slot.reader }).collect()
    }

    /// Gives a stale stream its authors (ascending), unless they have changed again.
    pub fn settle(&self, stale: Stale, authors: Arc<[UserId]>) {
        let mut state = lock(&self.state);
        let state = &mut *state;
        let Some(slot) = state.slots.get_mut(&stale.id).filter(|slot| slot.changes == stale.changes) else { return };
        slot.stale = false;
        let before = std::mem::replace(&mut slot.authors, Arc::clone(&authors));
        let waker = slot.queue.settle(&authors);
        state.stale.retain(|id| *id != stale.id);
        for author in before.iter().filter(|author| authors.binary_search(author).is_err()) {
            forget(&mut state.by_author, *author, stale.id);
        }
        for author in authors.iter().filter(|author| before.binary_search(author).is_err()) {
            state.by_author.entry(*author).or_default().insert(stale.id);
        }
        waker.into_iter().for_each(Waker::wake);
    }

    /// Whether any stream shows this author, or is stale and so may.
    pub fn has_listeners(&self, author: UserId) -> bool {
        let state = lock(&self.state);
        !state.stale.is_empty() || state.by_author.contains_key(&author)
    }

    /// Makes a text ready to be delivered.
    pub fn frame(&self, author: UserId, text: String) -> Arc<Frame> {
        Arc::new(Frame::new(author, text, self.memory.clone()))
    }

    /// The memory of what waits to be sent.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Puts an event of the log into the queues of the streams that show its author; false, and nothing
    /// done, if a stream is stale.
    pub fn deliver(&self, position: u64, frame: &Arc<Frame>, author: UserId) -> bool {
        let mut state = lock(&self.state);
        let state = &mut *state;
        if !state.stale.is_empty() {
            return false;
        }
        let mut wakers = Vec::new();
        for id in state.by_author.get(&author).into_iter().flatten() {
            let Some(slot) = state.slots.get_mut(id).filter(|slot| slot.from <= position) else { continue };
            self.events.fetch_add(1, Ordering::Relaxed);
            match slot.queue.push(frame) {
                (Pushed::Queued, waker) => wakers.extend(waker),
                (Pushed::Overflowed, _) => wakers.extend(self.reset(slot)),
            }
        }
        wakers.into_iter().for_each(Waker::wake);
        true
    }

    /// What the log has by now is left out, too: so the place to go on from is the same for this stream and
    /// for one that is opened there.
    fn reset(&self, slot: &mut Slot) -> Option<Waker> {
        self.resets.fetch_add(1, Ordering::Relaxed);
        let (position, cursor) = self.sequencer.mark();
        slot.from = position;
        slot.queue.reset(cursor)
    }

    /// Every stream has missed something.
    pub fn reset_all(&self) {
        let mut state = lock(&self.state);
        let wakers: Vec<_> = state.slots.values_mut().filter_map(|slot| self.reset(slot)).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends one stream, for its authors cannot be read; its client may come back.
    pub fn drop_stale(&self, stale: Stale) {
        let mut state = lock(&self.state);
        let waker = state.slots.get(&stale.id).and_then(|slot| slot.queue.close());
        state.stale.retain(|id| *id != stale.id);
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Ends all streams, and lets no more be opened.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        let wakers: Vec<_> = state.slots.values().filter_map(|slot| slot.queue.close()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(super) fn wake(&self) {
        super::hint(&self.hint);
    }

    /// Readers with an open stream, each once.
    pub fn readers(&self) -> Vec<UserId> {
        lock(&self.state).by_reader.keys().copied().collect()
    }

    /// The streams in figures.
    pub fn usage(&self) -> StreamsUsage {
        StreamsUsage {
            open: lock(&self.state).slots.len() as u64,
            events: self.events.load(Ordering::Relaxed),
            resets: self.resets.load(Ordering::Relaxed),
            memory: self.memory.fill(),
        }
    }
}

impl State {
    fn unsettle(&mut self, id: Id) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        slot.changes += 1;
        slot.queue.unsettle();
        if !std::mem::replace(&mut slot.stale, true) {
            self.stale.push(id);
        }
    }
}

/// Takes a stream out of one of the sets of a map.
fn forget(sets: &mut HashMap<UserId, HashSet<Id>>, key: UserId, id: Id) {
    if let Some(ids) = sets.get_mut(&key) {
        ids.remove(&id);
        if ids.is_empty() {
            sets.remove(&key);
        }
    }
}

impl Stream {
    /// The position of the first event that is delivered, and a cursor that leads back to it.
    pub fn start(&self) -> (u64, Cursor) {
        self.start
    }

    /// The next item; `None` once the stream is to end.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Item>> {
        self.queue.poll(context)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        let state = &mut *state;
        if let Some(slot) = state.slots.remove(&self.id) {
            for author in slot.authors.iter() {
                forget(&mut state.by_author, *author, self.id);
            }
            if slot.stale {
                state.stale.retain(|id| *id != self.id);
            }
        }
        forget(&mut state.by_reader, self.reader, self.id);
        self.presence.disconnect(self.reader);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::queue::CAPACITY;
    use crate::live::{Kind, Live};
    use crate::model::Entry;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    /// Gives every stale stream these authors.
    fn settle(live: &Live, authors: &[u64]) {
        for stale in live.streams().stale() {
            live.streams().settle(stale, authors.iter().map(|raw| user(*raw)).collect());
        }
    }

    /// Something happens to an item of an author; whether it was delivered.
    fn tell(live: &Live, author: u64) -> bool {
        let position = live.sequencer().end();
        live.sequencer().changed(Kind::Edit, Entry { cursor: Cursor::OLDEST, author: user(author) });
        let frame = live.streams().frame(user(author), author.to_string());
        live.streams().deliver(position, &frame, user(author))
    }

    fn take(stream: &Stream) -> Vec<String> {
        let mut context = Context::from_waker(Waker::noop());
        let mut taken = Vec::new();
        while let Poll::Ready(Some(item)) = stream.poll(&mut context) {
            taken.push(match item {
                Item::Frame(frame) => frame.text().to_owned(),
                Item::Reset(_) => "reset".to_owned(),
            });
        }
        taken
    }

    #[test]
    fn a_stream_gets_what_its_authors_do_from_its_beginning_on() {
        let live = Live::new(1000);
        let position = live.sequencer().end();
        live.sequencer().changed(Kind::Edit, Entry { cursor: Cursor::OLDEST, author: user(2) });
        let (one, other) = (live.streams().open(user(1)).expect("open"), live.streams().open(user(9)).expect("open"));
        assert!(live.streams().has_listeners(user(7)), "nobody knows yet");
        assert!(!tell(&live, 2), "nothing before the authors are known");
        settle(&live, &[2, 3]);
        assert!(live.streams().has_listeners(user(2)) && !live.streams().has_listeners(user(7)));
        let early = live.streams().frame(user(2), "early".to_owned());
        assert!(live.streams().deliver(position, &early, user(2)));
        assert!(tell(&live, 2) && tell(&live, 7) && tell(&live, 3));
        assert_eq!(
            (take(&one), take(&other)),
            (vec!["2".to_owned(), "3".to_owned()], vec!["2".to_owned(), "3".to_owned()])
        );
        assert_eq!(live.streams().usage().events, 4);
        drop((one, other));
        assert!(!live.streams().has_listeners(user(2)));
        assert_eq!((live.streams().usage().open, live.presence().users(0)), (0, 0));
        assert!(live.streams().readers().is_empty());
    }

    #[test]
    fn a_change_of_authors_counts_before_the_next_event() {
        let live = Live::new(1000);
        let stream = live.streams().open(user(1)).expect("open");
        settle(&live, &[2, 3]);
        assert!(tell(&live, 2) && tell(&live, 3));
        live.streams().unsettle(user(1));
        live.streams().unsettle(user(8));
        assert_eq!(take(&stream), [""; 0], "what waits may be of who is not shown any more");
        let stale = live.streams().stale();
        live.streams().unsettle(user(1));
        live.streams().settle(stale[0], [user(2)].into());
        assert!(!tell(&live, 4), "changed once more since the list was read");
        settle(&live, &[3, 4]);
        assert!(tell(&live, 4) && tell(&live, 2));
        assert_eq!(take(&stream), ["3", "4"]);
        live.streams().unsettle(user(1));
        live.streams().drop_stale(live.streams().stale()[0]);
        assert!(tell(&live, 4), "one that cannot be served holds up nobody");
        assert!(matches!(stream.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(None)));
    }

    #[test]
    fn who_lags_is_told_and_goes_on_from_there() {
        let live = Live::new(1000);
        let (slow, quick) = (live.streams().open(user(1)).expect("open"), live.streams().open(user(1)).expect("open"));
        settle(&live, &[2, 3]);
        for _ in 0..CAPACITY {
            assert!(tell(&live, 2));
            assert_eq!(take(&quick), ["2"]);
        }
        assert!(tell(&live, 3) && tell(&live, 2));
        assert_eq!(
            (take(&slow), take(&quick)),
            (vec!["reset".to_owned(), "2".to_owned()], vec!["3".to_owned(), "2".to_owned()])
        );
        assert_eq!(live.streams().usage().resets, 1);
        live.streams().reset_all();
        assert_eq!((take(&slow), take(&quick)), (vec!["reset".to_owned()], vec!["reset".to_owned()]));
        live.streams().close();
        assert!(matches!(slow.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(None)));
        assert_eq!(live.streams().open(user(1)).err(), Some(Closed));
    }
}
