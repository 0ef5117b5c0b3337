//! One reader with all its open streams.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::frame::{Frame, Item};
use super::personal::Note;
use super::queue::Queue;
use super::shown::{Shown, ShownChange};
use model::sync::Mutex;
use model::{Cursor, UserId};

/// An event with its position in the log.
pub(super) type Positioned = (u64, Arc<Frame>);

/// Identifies a stream; never reused.
pub(super) type Id = u64;

/// Where a stream continues after missed events: a position in the log, and a cursor that leads there.
pub(super) type Restart<'a> = &'a dyn Fn() -> (u64, Cursor);

/// What one reader is shown, and the queues of its streams. A change of that applies to all streams at once, and costs the
/// same however many there are. Locked after the streams' common state, before the sequencer.
#[derive(Debug)]
pub(super) struct Reader(Mutex<State>);

#[derive(Debug)]
struct State {
    shown: Shown,
    queues: HashMap<Id, Queue>,
}

impl Reader {
    /// Without streams.
    pub(super) fn new(shown: Shown) -> Self {
        Self(Mutex::new(State { shown, queues: HashMap::new() }))
    }

    /// Adds a stream for the events from this position on.
    pub(super) fn open(&self, id: Id, from: u64) {
        self.0.lock().queues.insert(id, Queue::new(from));
    }

    /// Drops a stream.
    pub(super) fn leave(&self, id: Id) {
        self.0.lock().queues.remove(&id);
    }

    /// How many streams there are.
    pub(super) fn streams(&self) -> usize {
        self.0.lock().queues.len()
    }

    /// Sources whose items it is shown, ascending.
    pub(super) fn sources(&self) -> Vec<UserId> {
        self.0.lock().shown.sources.clone()
    }

    /// Changes what it is shown.
    pub(super) fn change(&self, change: &ShownChange) {
        self.0.lock().shown.apply(change);
    }

    /// Puts an event into the queues of a reader who is shown one of its sources, if a rule admits its kind; returns into how
    /// many.
    pub(super) fn push(&self, event: &Positioned, restart: Restart<'_>, wakers: &mut Vec<Waker>) -> u64 {
        let mut state = self.0.lock();
        let State { shown, queues } = &mut *state;
        if !event.1.comes(shown) {
            return 0;
        }
        let mut pushed = 0;
        for queue in queues.values_mut() {
            pushed += put(queue, event, shown, restart);
            wakers.extend(queue.waker());
        }
        pushed
    }

    /// Puts what concerns this reader alone into its queues; returns into how many.
    pub(super) fn tell(&self, note: &Arc<Note>, restart: Restart<'_>, wakers: &mut Vec<Waker>) -> u64 {
        let mut state = self.0.lock();
        let State { shown, queues } = &mut *state;
        for queue in queues.values_mut() {
            if queue.put(Item::Note(Arc::clone(note)), note.memory(), shown).is_err() {
                queue.reset(restart());
            }
            wakers.extend(queue.waker());
        }
        queues.len() as u64
    }

    /// Resets every stream.
    pub(super) fn reset(&self, restart: Restart<'_>, wakers: &mut Vec<Waker>) {
        for queue in self.0.lock().queues.values_mut() {
            queue.reset(restart());
            wakers.extend(queue.waker());
        }
    }

    /// Ends every stream.
    pub(super) fn close(&self, wakers: &mut Vec<Waker>) {
        for queue in self.0.lock().queues.values_mut() {
            queue.close();
            wakers.extend(queue.waker());
        }
    }

    /// The next item of a stream; `None` once it is to end.
    pub(super) fn poll(&self, id: Id, context: &mut Context<'_>) -> Poll<Option<Item>> {
        let mut state = self.0.lock();
        let State { shown, queues } = &mut *state;
        queues.get_mut(&id).map_or(Poll::Ready(None), |queue| queue.poll(context, shown))
    }
}

/// Puts an event into a queue, if it is one of the stream's; returns how many. A full queue loses all that waits.
fn put(queue: &mut Queue, (position, frame): &Positioned, shown: &Shown, restart: Restart<'_>) -> u64 {
    if !queue.wants(*position) {
        return 0;
    }
    if queue.push(frame, shown).is_err() {
        queue.reset(restart());
    }
    1
}
