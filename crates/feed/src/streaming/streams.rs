//! The open streams, and the way of events to them.
//!
//! For each author there is a list of the readers who are shown it, so the cost of an event depends only on its
//! listeners. A change of a reader's authors is put into these lists by the thread that makes it, before it is
//! acknowledged; it costs the same however many streams and authors the reader has. The first stream of a reader is opened
//! with the authors that it is shown, if they are the present ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::frame::{Frame, Item, Viewer};
use super::memory::Memory;
use super::personal::Note;
use super::presence::Presence;
use super::queue::Queue;
use super::reader::{Id, Reader};
use super::sequencer::Sequencer;
use super::shown::{Shown, ShownChange};
use model::error::{Code, Error, Result};
use model::sync::Mutex;
use model::{Cursor, Event, Fill, ShownSources, UserId};

/// Readers who get an event under one lock.
const AT_ONCE: usize = 256;

/// Locked before the sequencer.
#[derive(Debug, Default)]
struct State {
    next: Id,
    readers: HashMap<UserId, Reader>,
    /// Readers, not streams: all streams of one reader show the same authors.
    by_source: HashMap<UserId, HashSet<UserId>>,
    closed: bool,
    usage: StreamsUsage,
}

/// The streams in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

/// All open streams.
#[derive(Debug)]
pub struct Streams {
    state: Arc<Mutex<State>>,
    sequencer: Arc<Sequencer>,
    presence: Arc<Presence>,
    memory: Memory,
}

/// One open stream. Its reader is online until it is dropped.
#[derive(Debug)]
pub struct Stream {
    id: Id,
    user: UserId,
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
        Self { state: Arc::default(), sequencer, presence, memory: Memory::default() }
    }

    /// Counts a user whose stream is being opened.
    pub(crate) fn opening<T>(&self, open: impl FnOnce() -> T) -> T {
        self.state.lock().usage.opening += 1;
        let opened = open();
        self.state.lock().usage.opening -= 1;
        opened
    }

    /// Opens a stream; `stream_limit` if the user has `most` already, `stopping` once all are closed. It gets every event that
    /// enters the log from here on, and none before. The first stream of a user needs the sources that the user is shown now;
    /// `None` without them. While `sources` returns them, no change of them is put into the lists.
    pub fn open<'s>(
        &self,
        user: UserId,
        most: usize,
        sources: impl FnOnce() -> Option<&'s ShownSources>,
    ) -> Result<Option<Stream>> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(Code::Stopping.into());
        }
        if state.readers.get(&user).is_some_and(|reader| reader.queues.len() >= most) {
            state.usage.refused += 1;
            let detail = format_args!("a user cannot have more than {most} open streams (server.max_streams_per_user)");
            return Err(Error::refused(Code::StreamLimit, detail));
        }
        if !state.readers.contains_key(&user) {
            let Some(sources) = sources() else { return Ok(None) };
            for source in sources.iter() {
                state.by_source.entry(*source).or_default().insert(user);
            }
            state.readers.insert(user, Reader { shown: Shown::of(sources), ..Reader::default() });
        }
        // Under the lock, so that the delivery of events after this place waits.
        let (id, start) = (state.next, self.sequencer.mark());
        state.next += 1;
        state.usage.open += 1;
        state.readers.entry(user).or_default().queues.insert(id, Queue::new(start.0));
        drop(state);
        self.presence.connect(user);
        Ok(Some(Stream { id, user, start, state: Arc::clone(&self.state), presence: Arc::clone(&self.presence) }))
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
        let Some(reader) = state.readers.get_mut(&user) else { return };
        for change in changes {
            reader.shown.apply(change);
            if change.is_shown {
                state.by_source.entry(change.source).or_default().insert(user);
            } else {
                unlist(&mut state.by_source, user, change.source);
            }
        }
    }

    /// Ends all streams of a user whose authors are not known any more, or who is erased; its clients may reconnect.
    pub fn end(&self, user: UserId) {
        let mut wakers = Wakers::default();
        let reader = self.state.lock().forget(user);
        wakers.0.extend(reader.into_iter().flat_map(|mut reader| reader.wakers().collect::<Vec<_>>()));
    }

    /// Whether any reader is shown one of these sources.
    pub fn has_listeners(&self, sources: impl IntoIterator<Item = UserId>) -> bool {
        let state = self.state.lock();
        sources.into_iter().any(|source| state.by_source.contains_key(&source))
    }

    /// Makes a text ready to be delivered.
    pub fn frame(&self, event: &Event, text: String) -> Frame {
        Frame::new(event, text, &self.memory)
    }

    /// The memory of waiting events.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The readers who are shown a path of an event, each once.
    pub fn listeners(&self, frame: &Frame) -> Vec<UserId> {
        listed(&self.state.lock().by_source, frame)
    }

    /// Puts an event of the log into the queues of the streams that show one of its paths. Events must come in the order
    /// of their positions. `viewers` are all who listened to it before, if readers were looked up: who has begun to listen since
    /// does not get it.
    pub fn deliver(&self, position: u64, frame: Frame, viewers: Option<&[(UserId, Viewer)]>) {
        let to = match viewers {
            Some(viewers) => viewers.iter().filter(|(_, viewer)| !viewer.silences).map(|(user, _)| *user).collect(),
            None => self.listeners(&frame),
        };
        let frame = frame.ready(viewers.unwrap_or_default(), &self.memory);
        let item = Item::Frame(Arc::clone(&frame));
        // Streams are read between the parts.
        for part in to.chunks(AT_ONCE) {
            let mut wakers = Wakers::default();
            let mut guard = self.state.lock();
            let State { readers, usage, .. } = &mut *guard;
            for user in part {
                if let Some(reader) = readers.get_mut(user).filter(|reader| frame.comes(&reader.shown)) {
                    let restart = &mut || self.restart(&mut usage.resets);
                    usage.events += reader.put((position, &item), &self.memory, restart, &mut wakers.0);
                }
            }
        }
    }

    /// Puts a text into the queues of a user's streams, which `actor` caused.
    pub fn tell(&self, user: UserId, actor: Option<UserId>, text: String) {
        let mut wakers = Wakers::default();
        let mut guard = self.state.lock();
        let State { readers, usage, .. } = &mut *guard;
        let Some(reader) = readers.get_mut(&user) else { return };
        // No stream began after it.
        let note = (u64::MAX, &Item::Note(Arc::new(Note::new(text, actor, &self.memory))));
        usage.events += reader.put(note, &self.memory, &mut || self.restart(&mut usage.resets), &mut wakers.0);
    }

    /// Resets the streams of a user.
    pub fn reset(&self, user: UserId) {
        self.reset_those(|readers, reset| _ = readers.get_mut(&user).map(reset));
    }

    /// Resets every stream.
    pub fn reset_all(&self) {
        self.reset_those(|readers, reset| readers.values_mut().for_each(reset));
    }

    fn reset_those(&self, visit: impl FnOnce(&mut HashMap<UserId, Reader>, &mut dyn FnMut(&mut Reader))) {
        let mut wakers = Wakers::default();
        let mut guard = self.state.lock();
        let State { readers, usage, .. } = &mut *guard;
        visit(readers, &mut |reader| reader.reset(&mut || self.restart(&mut usage.resets), &mut wakers.0));
    }

    /// Events in the log by now are left out, too. So this stream and one that is opened there continue from the same
    /// place.
    fn restart(&self, resets: &mut u64) -> (u64, Cursor) {
        *resets += 1;
        self.sequencer.mark()
    }

    /// Ends all streams, and allows no more.
    pub fn close(&self) {
        let mut wakers = Wakers::default();
        let mut state = self.state.lock();
        state.closed = true;
        wakers.0.extend(state.readers.values_mut().flat_map(Reader::wakers));
    }

    /// Readers with an open stream, each once.
    pub fn readers(&self) -> Vec<UserId> {
        self.state.lock().readers.keys().copied().collect()
    }

    /// The streams in figures.
    pub fn usage(&self) -> StreamsUsage {
        StreamsUsage { memory: self.memory.fill(), ..self.state.lock().usage }
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

/// The readers who are shown a path of an event, each once.
fn listed(by_source: &HashMap<UserId, HashSet<UserId>>, frame: &Frame) -> Vec<UserId> {
    let lists: Vec<_> = frame.paths().filter_map(|path| by_source.get(&path)).collect();
    let is_new = |place: usize, reader: &UserId| !lists[..place].iter().any(|list| list.contains(reader));
    let new = |(place, list): (usize, &&HashSet<UserId>)| -> Vec<UserId> {
        list.iter().copied().filter(|reader| is_new(place, reader)).collect()
    };
    lists.iter().enumerate().flat_map(new).collect()
}

impl State {
    /// Forgets a reader.
    fn forget(&mut self, user: UserId) -> Option<Reader> {
        let reader = self.readers.remove(&user)?;
        reader.shown.sources.iter().for_each(|author| unlist(&mut self.by_source, user, *author));
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
        let mut state = self.state.lock();
        if state.closed {
            return Poll::Ready(None);
        }
        let Some(Reader { shown, queues }) = state.readers.get_mut(&self.user) else { return Poll::Ready(None) };
        queues.get_mut(&self.id).map_or(Poll::Ready(None), |queue| queue.poll(context, shown))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        state.usage.open -= 1;
        // The reader may have been forgotten, and replaced by another, which has other streams.
        let is_last = state
            .readers
            .get_mut(&self.user)
            .is_some_and(|reader| reader.queues.remove(&self.id).is_some() && reader.queues.is_empty());
        if is_last {
            state.forget(self.user);
        }
        drop(state);
        self.presence.disconnect(self.user);
    }
}
