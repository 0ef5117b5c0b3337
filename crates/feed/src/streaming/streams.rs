//! The open streams, and the way of events to them.
//!
//! For each author there is a list of the readers who are shown it, so the cost of an event depends only on its
//! listeners. A change of a reader's authors is put into these lists by the thread that makes it, before it is
//! acknowledged; it costs the same however many streams and authors the reader has. The first stream of a reader is opened
//! with the authors that it is shown, if they are the present ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::frame::{Frame, Item};
use super::memory::Memory;
use super::personal::Note;
use super::presence::Presence;
use super::reader::{Id, Reader};
use super::sequencer::Sequencer;
use super::shown::{Shown, ShownChange};
use model::sync::Mutex;
use model::sync::atomic::{AtomicU64, Ordering};
use model::{Cursor, Event, Fill, ShownSources, UserId};

#[derive(Debug, Default)]
struct State {
    next: Id,
    open: u64,
    readers: HashMap<UserId, Arc<Reader>>,
    /// Readers, not streams: all streams of one reader show the same authors.
    by_source: HashMap<UserId, HashSet<UserId>>,
    closed: bool,
}

/// The streams in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamsUsage {
    /// Open streams.
    pub open: u64,
    /// Streams that are being opened, for which the authors of their users are read.
    pub opening: u64,
    /// Events that were put into queues, each counted for every stream.
    pub events: u64,
    /// Times a client lagged so far behind that it lost events.
    pub resets: u64,
    /// Streams refused because their reader had as many as allowed.
    pub refused: u64,
    /// Memory of waiting events, bytes.
    pub memory: Fill,
}

/// An event that was not delivered, because these readers must be looked up first.
#[derive(Debug)]
pub struct Unasked {
    /// The event.
    pub frame: Box<Frame>,
    /// The readers; at the next try there may be others.
    pub readers: Vec<UserId>,
}

/// Why a stream was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotOpened {
    /// The server stops.
    Closed,
    /// The reader has as many as allowed.
    TooMany,
}

/// All open streams.
#[derive(Debug)]
pub struct Streams {
    state: Arc<Mutex<State>>,
    sequencer: Arc<Sequencer>,
    presence: Arc<Presence>,
    memory: Memory,
    opening: AtomicU64,
    events: AtomicU64,
    resets: AtomicU64,
    refused: AtomicU64,
}

/// One open stream. Its reader is online until it is dropped.
#[derive(Debug)]
pub struct Stream {
    id: Id,
    user: UserId,
    reader: Arc<Reader>,
    start: (u64, Cursor),
    state: Arc<Mutex<State>>,
    presence: Arc<Presence>,
}

/// Clients to wake. Declared before a lock is taken, so that they are woken after it is released.
#[derive(Default)]
struct Wakers(Vec<Waker>);

impl Drop for Wakers {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

impl Streams {
    pub(super) fn new(sequencer: Arc<Sequencer>, presence: Arc<Presence>) -> Self {
        Self {
            state: Arc::default(),
            sequencer,
            presence,
            memory: Memory::default(),
            opening: AtomicU64::new(0),
            events: AtomicU64::new(0),
            resets: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// Counts a user whose stream is being opened.
    pub(crate) fn opening<T>(&self, open: impl FnOnce() -> T) -> T {
        self.opening.fetch_add(1, Ordering::Relaxed);
        let opened = open();
        self.opening.fetch_sub(1, Ordering::Relaxed);
        opened
    }

    /// Opens a stream, if the user has fewer than `most`. It gets every event that enters the log from here on, and
    /// none before. The first stream of a user needs the sources that the user is shown now; `None` without them. While
    /// `sources` returns them, no change of them is put into the lists.
    pub fn open<'s>(
        &self,
        user: UserId,
        most: usize,
        sources: impl FnOnce() -> Option<&'s ShownSources>,
    ) -> Result<Option<Stream>, NotOpened> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        if state.closed {
            return Err(NotOpened::Closed);
        }
        if state.readers.get(&user).is_some_and(|reader| reader.streams() >= most) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(NotOpened::TooMany);
        }
        let reader = match state.readers.get(&user) {
            Some(reader) => Arc::clone(reader),
            None => {
                let Some(sources) = sources() else { return Ok(None) };
                for source in sources.iter() {
                    state.by_source.entry(*source).or_default().insert(user);
                }
                let reader = Arc::new(Reader::new(Shown::of(sources)));
                state.readers.insert(user, Arc::clone(&reader));
                reader
            }
        };
        // Under the lock, so that the delivery of events after this place waits.
        let start = self.sequencer.mark();
        let id = state.next;
        state.next += 1;
        state.open += 1;
        reader.open(id, start.0);
        drop(guard);
        self.presence.connect(user);
        let (state, presence) = (Arc::clone(&self.state), Arc::clone(&self.presence));
        Ok(Some(Stream { id, user, reader, start, state, presence }))
    }

    /// Whether no stream is open.
    pub fn is_idle(&self) -> bool {
        self.state.lock().readers.is_empty()
    }

    /// Whether a user has an open stream.
    pub fn is_open(&self, user: UserId) -> bool {
        self.state.lock().readers.contains_key(&user)
    }

    /// Changes what a reader is shown. Must come after the change is written and before it is acknowledged. Calls for one
    /// source must be in the order of its changes.
    pub fn change(&self, user: UserId, changes: &[ShownChange]) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let Some(reader) = state.readers.get(&user) else { return };
        changes.iter().for_each(|change| reader.change(change));
        for ShownChange { source, is_shown, .. } in changes {
            if *is_shown {
                state.by_source.entry(*source).or_default().insert(user);
            } else {
                unlist(&mut state.by_source, user, *source);
            }
        }
    }

    /// Ends all streams of a user whose authors are not known any more, or who is erased; its clients may reconnect.
    pub fn end(&self, user: UserId) {
        let mut wakers = Wakers::default();
        if let Some(reader) = self.state.lock().forget(user) {
            reader.close(&mut wakers.0);
        }
    }

    /// Whether any reader is shown one of these sources.
    pub fn has_listeners(&self, sources: impl IntoIterator<Item = UserId>) -> bool {
        let state = self.state.lock();
        sources.into_iter().any(|source| state.by_source.contains_key(&source))
    }

    /// Makes a text ready to be delivered.
    pub fn frame(&self, event: &Event, text: String) -> Frame {
        Frame::new(event, text, self.memory.clone())
    }

    /// The memory of waiting events.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Puts an event of the log into the queues of the streams that show one of its paths. Events must come in the order
    /// of their positions. If some readers are not looked up yet, does nothing and names them.
    pub fn deliver(&self, position: u64, frame: Frame) -> Result<(), Unasked> {
        let mut wakers = Wakers::default();
        let state = self.state.lock();
        let readers: Vec<_> = state.listed(&frame).copied().filter(|reader| frame.lacks(*reader)).collect();
        if !readers.is_empty() {
            return Err(Unasked { frame: Box::new(frame), readers });
        }
        let frame = frame.ready();
        let (mut pushed, event) = (0, (position, Arc::clone(&frame)));
        for user in state.listed(&frame).filter(|reader| frame.is_for(**reader)) {
            if let Some(reader) = state.readers.get(user) {
                pushed += reader.push(&event, &|| self.restart(), &mut wakers.0);
            }
        }
        self.events.fetch_add(pushed, Ordering::Relaxed);
        Ok(())
    }

    /// Puts a text into the queues of a user's streams, which `actor` caused.
    pub fn tell(&self, user: UserId, actor: Option<UserId>, text: String) {
        let mut wakers = Wakers::default();
        let state = self.state.lock();
        let Some(reader) = state.readers.get(&user) else { return };
        let note = Arc::new(Note::new(text, actor, self.memory.clone()));
        let pushed = reader.tell(&note, &|| self.restart(), &mut wakers.0);
        self.events.fetch_add(pushed, Ordering::Relaxed);
    }

    /// Resets the streams of a user.
    pub fn reset(&self, user: UserId) {
        let mut wakers = Wakers::default();
        let state = self.state.lock();
        if let Some(reader) = state.readers.get(&user) {
            reader.reset(&|| self.restart(), &mut wakers.0);
        }
    }

    /// Events in the log by now are left out, too. So this stream and one that is opened there continue from the same
    /// place.
    fn restart(&self) -> (u64, Cursor) {
        self.resets.fetch_add(1, Ordering::Relaxed);
        self.sequencer.mark()
    }

    /// Resets every stream.
    pub fn reset_all(&self) {
        let mut wakers = Wakers::default();
        let state = self.state.lock();
        state.readers.values().for_each(|reader| reader.reset(&|| self.restart(), &mut wakers.0));
    }

    /// Ends all streams, and allows no more.
    pub fn close(&self) {
        let mut wakers = Wakers::default();
        let mut state = self.state.lock();
        state.closed = true;
        state.readers.values().for_each(|reader| reader.close(&mut wakers.0));
    }

    /// Readers with an open stream, each once.
    pub fn readers(&self) -> Vec<UserId> {
        self.state.lock().readers.keys().copied().collect()
    }

    /// The streams in figures.
    pub fn usage(&self) -> StreamsUsage {
        let state = self.state.lock();
        let open = state.open;
        drop(state);
        StreamsUsage {
            open,
            opening: self.opening.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
            resets: self.resets.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            memory: self.memory.fill(),
        }
    }
}

/// Takes a reader out of the list of an author.
fn unlist(by_source: &mut HashMap<UserId, HashSet<UserId>>, user: UserId, author: UserId) {
    if let Some(readers) = by_source.get_mut(&author) {
        readers.remove(&user);
        if readers.is_empty() {
            by_source.remove(&author);
        }
    }
}

impl State {
    /// The readers who are shown a path of an event, each once.
    fn listed<'s>(&'s self, frame: &'s Frame) -> impl Iterator<Item = &'s UserId> {
        let paths = frame.paths();
        let of = |path: &UserId| self.by_source.get(path);
        paths.iter().enumerate().filter_map(move |(place, path)| Some((place, of(path)?))).flat_map(
            move |(place, readers)| {
                let is_new = move |reader: &&UserId| {
                    !paths[..place].iter().any(|other| of(other).is_some_and(|others| others.contains(*reader)))
                };
                readers.iter().filter(is_new)
            },
        )
    }

    /// Forgets a reader.
    fn forget(&mut self, user: UserId) -> Option<Arc<Reader>> {
        let reader = self.readers.remove(&user)?;
        reader.sources().into_iter().for_each(|author| unlist(&mut self.by_source, user, author));
        Some(reader)
    }
}

impl Stream {
    /// The position of the first event that is delivered, and a cursor that leads back to it.
    pub fn start(&self) -> (u64, Cursor) {
        self.start
    }

    /// The next item; `None` once the stream is to end.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Option<Item>> {
        self.reader.poll(self.id, context)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        state.open -= 1;
        self.reader.leave(self.id);
        // The reader may have been forgotten and replaced by another.
        let is_its = |reader: &Arc<Reader>| Arc::ptr_eq(reader, &self.reader);
        if self.reader.streams() == 0 && state.readers.get(&self.user).is_some_and(is_its) {
            state.forget(self.user);
        }
        drop(state);
        self.presence.disconnect(self.user);
    }
}
