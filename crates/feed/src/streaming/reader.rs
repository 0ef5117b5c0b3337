//! One reader with all its open streams.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::frame::Item;
use super::opening_readers::Positioned;
use super::personal::Note;
use super::queue::Queue;
use super::shown::{Shown, ShownChange, set};
use model::sync::Mutex;
use model::{Cursor, Rule, UserId};

/// Identifies a stream; never reused.
pub(super) type Id = u64;

/// Where a stream continues after missed events: a position in the log, and a cursor that leads there.
pub(super) type Restart<'a> = &'a dyn Fn() -> (u64, Cursor);

/// What one reader is shown, and the queues of its streams. A change of that applies to all streams at once, and costs the
/// same however many there are. Locked after the streams' common state, before the sequencer.
#[derive(Debug, Default)]
pub(super) struct Reader(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    shown: Shown,
    /// Whether the sources in `shown` are read.
    is_read: bool,
    queues: HashMap<Id, Queue>,
}

impl Reader {
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

    /// Sources whose items it is shown, ascending; none until they are read.
    pub(super) fn sources(&self) -> Vec<UserId> {
        self.0.lock().shown.sources.clone()
    }

    /// Changes what it is shown. Sources have no effect until they are read.
    pub(super) fn change(&self, change: &ShownChange) {
        let mut state = self.0.lock();
        if state.is_read {
            state.shown.apply(change);
        }
        set(&mut state.shown.silenced, change.source, change.is_silenced);
    }

    /// Puts an event into the queues of a reader who is shown one of its sources, if a rule admits its kind; returns into how
    /// many.
    pub(super) fn push(&self, event: &Positioned, restart: Restart<'_>, wakers: &mut Vec<Waker>) -> u64 {
        let mut state = self.0.lock();
        let State { shown, is_read, queues } = &mut *state;
        if !*is_read || !event.1.comes(shown) {
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
        let State { shown, queues, .. } = &mut *state;
        for queue in queues.values_mut() {
            if queue.put(Item::Note(Arc::clone(note)), note.memory(), shown).is_err() {
                queue.reset(restart());
            }
            wakers.extend(queue.waker());
        }
        queues.len() as u64
    }

    /// Gives the reader what it is shown, and the deferred events of that. Returns how many events, each counted for
    /// every stream. `lost` is the position of the last dropped event.
    pub(super) fn give_sources(
        &self,
        (sources, rules): (Vec<UserId>, BTreeMap<UserId, Rule>),
        (deferred, lost): (&[&Positioned], Option<u64>),
        restart: Restart<'_>,
        wakers: &mut Vec<Waker>,
    ) -> u64 {
        let mut state = self.0.lock();
        let State { shown, is_read, queues } = &mut *state;
        (shown.sources, shown.rules, *is_read) = (sources, rules, true);
        let mut pushed = 0;
        for queue in queues.values_mut() {
            if lost.is_some_and(|lost| queue.wants(lost)) {
                queue.reset(restart());
            }
            for event in deferred {
                pushed += put(queue, event, shown, restart);
            }
            wakers.extend(queue.waker());
        }
        pushed
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
        let State { shown, queues, .. } = &mut *state;
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
