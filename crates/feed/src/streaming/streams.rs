//! The open streams, and the way of events to them.
//!
//! For each source there is a list of the readers who are shown it, so the cost of an event depends only on its
//! listeners. A change of a reader's sources is put into these lists by the thread that makes it, before it is
//! acknowledged; it costs the same however many streams and sources the reader has. The first stream of a reader is opened
//! with the sources that were read for it, if no change of them has begun since.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::frame::{Frame, Item, Viewer};
use super::memory::Memory;
use super::personal::Note;
use super::presence::Presence;
use super::queue::{NO_POSITION, Queue};
use super::reader_sources::{Shown, ShownChange};
use super::sequencer::Sequencer;
use model::error::{Code, Error, Result};
use model::metrics::Page;
use model::sync::atomic::{AtomicU64, Ordering, fence};
use model::sync::{Mutex, MutexGuard};
use model::{Count, Cursor, Event, ShownSources, UserId, figures};

/// Identifies a stream; never reused.
type Id = u64;

/// The sources of one reader, and the queues of its streams. A change of the sources applies to all streams at once, and
/// costs the same however many streams there are.
#[derive(Debug, Default)]
struct Reader {
    shown: Shown,
    queues: HashMap<Id, Queue>,
}

/// The readers with streams. The order of locks is: this, then a reader, then the sequencer.
#[derive(Debug, Default)]
struct State {
    next: Id,
    readers: HashMap<UserId, Arc<Mutex<Reader>>>,
    /// For each source its readers, not their streams: all streams of one reader show the same sources.
    by_source: HashMap<UserId, HashSet<UserId>>,
    closed: bool,
}

/// All open streams.
#[derive(Debug)]
pub struct Streams {
    state: Mutex<State>,
    sequencer: Arc<Sequencer>,
    presence: Arc<Presence>,
    memory: Memory,
    open: AtomicU64,
    opening: AtomicU64,
    events: Count,
    resets: Count,
    /// Streams refused because their reader had as many as allowed.
    pub(crate) refused: Count,
}

/// One open stream. Its reader is online until it is dropped.
#[derive(Debug)]
pub struct Stream {
    id: Id,
    user: UserId,
    start: (u64, Cursor),
    reader: Arc<Mutex<Reader>>,
    streams: Arc<Streams>,
}

impl Streams {
    pub(super) fn new(sequencer: Arc<Sequencer>, presence: Arc<Presence>) -> Self {
        let (state, memory, open, opening) = Default::default();
        let (events, resets, refused) = Default::default();
        Self { state, sequencer, presence, memory, open, opening, events, resets, refused }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes some readers one after the other, and wakes their clients.
    fn change_each(
        &self,
        readers: impl IntoIterator<Item = Arc<Mutex<Reader>>>,
        mut change: impl FnMut(&mut Reader, &mut Vec<Waker>),
    ) {
        let mut wakers = Vec::new();
        for reader in readers {
            change(&mut reader.lock(), &mut wakers);
            // Without the lock.
            wakers.drain(..).for_each(Waker::wake);
        }
    }

    /// Runs `open`, and counts a stream as being opened meanwhile.
    pub(crate) fn opening<T>(&self, open: impl FnOnce() -> T) -> T {
        self.opening.fetch_add(1, Ordering::Relaxed);
        // Before the sources are compared with the present ones: a thread that changes sources looks for streams afterwards.
        fence(Ordering::SeqCst);
        let opened = open();
        self.opening.fetch_sub(1, Ordering::Release);
        opened
    }

    /// Opens a stream; `stream_limit` if the user has `most` already, `stopping` once all are closed. It gets every event
    /// that enters the log from here on, and none before. The first stream of a user needs `sources`, those that the user is
    /// shown now; `None` without them. `sources` runs under the lock of the lists, so that no change of them comes between.
    pub fn open<'s>(
        self: &Arc<Self>,
        user: UserId,
        most: usize,
        sources: impl FnOnce() -> Option<&'s ShownSources>,
    ) -> Result<Option<Stream>> {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.closed {
            return Err(Code::Stopping.into());
        }
        let reader = match state.readers.get(&user) {
            Some(reader) if reader.lock().queues.len() >= most => {
                self.refused.add(1);
                let detail =
                    format_args!("a user cannot have more than {most} open streams (server.max_streams_per_user)");
                return Err(Error::refused(Code::StreamLimit, detail));
            }
            Some(reader) => Arc::clone(reader),
            None => {
                let Some(sources) = sources() else { return Ok(None) };
                for source in sources.iter() {
                    state.by_source.entry(*source).or_default().insert(user);
                }
                let reader = Arc::new(Mutex::new(Reader { shown: Shown::of(sources), ..Reader::default() }));
                state.readers.insert(user, Arc::clone(&reader));
                reader
            }
        };
        // Under the lock, so that the delivery of events after this place waits.
        let (id, start) = (state.next, self.sequencer.mark());
        state.next += 1;
        reader.lock().queues.insert(id, Queue::new(start.0));
        self.open.fetch_add(1, Ordering::Relaxed);
        drop(guard);
        self.presence.connect(user);
        Ok(Some(Stream { id, user, start, reader, streams: Arc::clone(self) }))
    }

    /// Whether no stream is open or being opened.
    pub fn is_idle(&self) -> bool {
        fence(Ordering::SeqCst);
        self.opening.load(Ordering::Acquire) == 0 && self.open.load(Ordering::Relaxed) == 0
    }

    /// Whether a user has an open stream.
    pub fn is_open(&self, user: UserId) -> bool {
        !self.is_idle() && self.state().readers.contains_key(&user)
    }

    /// Changes what a reader is shown. Must come after the change is written and before it is acknowledged. Calls for one
    /// source must be in the order of its changes.
    pub fn change(&self, user: UserId, changes: &[ShownChange]) {
        let mut guard = self.state();
        let State { readers, by_source, .. } = &mut *guard;
        let Some(mut reader) = readers.get(&user).map(|reader| reader.lock()) else { return };
        for change in changes {
            reader.shown.apply(change);
            if change.is_shown {
                by_source.entry(change.source).or_default().insert(user);
            } else {
                unlist(by_source, user, change.source);
            }
        }
    }

    /// Ends all streams of a user whose sources cannot be read, or who is erased. The clients may reconnect.
    pub fn end(&self, user: UserId) {
        let reader = self.state().forget(user);
        self.end_each(reader);
    }

    /// Whether any reader is shown one of these sources.
    pub fn has_listeners(&self, sources: impl IntoIterator<Item = UserId>) -> bool {
        let state = self.state();
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
        listed(&self.state().by_source, frame)
    }

    /// Puts an event of the log into the queues of the streams that show one of its paths. Events must come in the order of
    /// their positions. `viewers` has all listeners that were looked up before, if they were; a reader who has begun to
    /// listen since does not get the event.
    pub fn deliver(&self, position: u64, frame: Frame, viewers: Option<&[(UserId, Viewer)]>) {
        let to = match viewers {
            Some(viewers) => viewers.iter().filter(|(_, viewer)| !viewer.silences).map(|(user, _)| *user).collect(),
            None => self.listeners(&frame),
        };
        let frame = frame.ready(viewers.unwrap_or_default(), &self.memory);
        let item = Item::Frame(Arc::clone(&frame));
        let state = self.state();
        let readers: Vec<_> = to.iter().filter_map(|user| state.readers.get(user).cloned()).collect();
        drop(state);
        self.change_each(readers, |reader, wakers| {
            if frame.comes(&reader.shown) {
                self.put(reader, position, &item, wakers);
            }
        });
    }

    /// Puts a text into the queues of a user's streams. `actor` is the user who caused it.
    pub fn tell(&self, user: UserId, actor: Option<UserId>, text: String) {
        let reader = self.state().readers.get(&user).cloned();
        let note = Item::Note(Arc::new(Note::new(text, actor, &self.memory)));
        self.change_each(reader, |reader, wakers| self.put(reader, NO_POSITION, &note, wakers));
    }

    /// Puts an item into the queues that want it. A full queue loses all that waits.
    fn put(&self, reader: &mut Reader, position: u64, item: &Item, wakers: &mut Vec<Waker>) {
        for queue in reader.queues.values_mut().filter(|queue| queue.wants(position)) {
            self.events.add(1);
            if !queue.put(item, &self.memory, &reader.shown) {
                self.resets.add(1);
                queue.reset();
            }
            wakers.extend(queue.waker());
        }
    }

    /// Resets the streams of a user.
    pub fn reset(&self, user: UserId) {
        let reader = self.state().readers.get(&user).cloned();
        self.reset_each(reader);
    }

    /// Resets every stream.
    pub fn reset_all(&self) {
        self.reset_each(self.all());
    }

    fn reset_each(&self, readers: impl IntoIterator<Item = Arc<Mutex<Reader>>>) {
        self.change_each(readers, |reader, wakers| {
            self.resets.add(reader.queues.len());
            reader.queues.values_mut().for_each(Queue::reset);
            wakers.extend(reader.queues.values_mut().filter_map(Queue::waker));
        });
    }

    fn end_each(&self, readers: impl IntoIterator<Item = Arc<Mutex<Reader>>>) {
        self.change_each(readers, |reader, wakers| {
            wakers.extend(reader.queues.drain().filter_map(|(_, mut queue)| queue.waker()));
        });
    }

    /// Ends all streams, and allows no more.
    pub fn close(&self) {
        self.state().closed = true;
        self.end_each(self.all());
    }

    fn all(&self) -> Vec<Arc<Mutex<Reader>>> {
        self.state().readers.values().cloned().collect()
    }

    /// Readers with an open stream, each once.
    pub fn readers(&self) -> Vec<UserId> {
        self.state().readers.keys().copied().collect()
    }

    /// How many are open.
    pub fn open_now(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }

    /// Writes the figures to a page.
    pub(crate) fn write_figures(&self, page: &mut Page) {
        figures! { page =>
            /// Users whose first stream is being opened and whose list of authors is being read.
            tideline_stream_readers_stale = &self.opening;
            /// Events put into streams; an event for two streams counts twice.
            tideline_stream_events_total = &self.events;
            /// Resets sent because a client read too slowly and lost events.
            tideline_stream_resets_total = &self.resets;
            /// Memory used by events waiting for clients. Above its limit a slow client loses its waiting events.
            tideline_stream_memory_bytes = self.memory.fill();
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
    fn forget(&mut self, user: UserId) -> Option<Arc<Mutex<Reader>>> {
        let reader = self.readers.remove(&user)?;
        reader.lock().shown.sources.iter().for_each(|author| unlist(&mut self.by_source, user, *author));
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
        let Reader { shown, queues } = &mut *self.reader.lock();
        let queue = queues.get_mut(&self.id);
        queue.map_or(Poll::Ready(None), |queue| queue.poll(context, shown, || self.streams.sequencer.mark()))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut state = self.streams.state();
        let mut reader = self.reader.lock();
        reader.queues.remove(&self.id);
        let is_last = reader.queues.is_empty();
        drop(reader);
        // The reader may have been forgotten, and replaced by another, which has other streams.
        if is_last && state.readers.get(&self.user).is_some_and(|present| Arc::ptr_eq(present, &self.reader)) {
            state.forget(self.user);
        }
        drop(state);
        self.streams.presence.disconnect(self.user);
        self.streams.open.fetch_sub(1, Ordering::Relaxed);
    }
}
