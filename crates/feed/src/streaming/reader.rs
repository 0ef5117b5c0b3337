//! One reader with all its open streams.

use std::collections::HashMap;
use std::task::{Context, Poll, Waker};

use super::frame::Item;
use super::memory::Memory;
use super::queue::Queue;
use super::shown::Shown;
use model::Cursor;

/// Identifies a stream; never reused.
pub(super) type Id = u64;

/// The place at which a stream continues after missed events: a position in the log, and a cursor that leads there.
pub(super) type Restart<'a> = &'a mut dyn FnMut() -> (u64, Cursor);

/// The sources of one reader, and the queues of its streams. A change of that applies to all streams at once, and costs the
/// same however many there are.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) shown: Shown,
    pub(super) queues: HashMap<Id, Queue>,
}

impl Reader {
    /// Puts the item of a position into the queues that want it; returns into how many. A full queue loses all that waits.
    pub(super) fn put(
        &mut self,
        (position, item): (u64, &Item),
        memory: &Memory,
        restart: Restart<'_>,
        wakers: &mut Vec<Waker>,
    ) -> usize {
        let mut put = 0;
        for queue in self.queues.values_mut().filter(|queue| queue.wants(position)) {
            if !queue.put(item, memory, &self.shown) {
                queue.reset(restart());
            }
            wakers.extend(queue.waker());
            put += 1;
        }
        put
    }

    /// Resets every stream.
    pub(super) fn reset(&mut self, restart: Restart<'_>, wakers: &mut Vec<Waker>) {
        for queue in self.queues.values_mut() {
            queue.reset(restart());
            wakers.extend(queue.waker());
        }
    }

    /// Ends every stream.
    pub(super) fn end(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(self.queues.drain().filter_map(|(_, mut queue)| queue.waker()));
    }

    /// The next item of a stream; `None` once it has ended.
    pub(super) fn poll(&mut self, stream: Id, context: &mut Context<'_>) -> Poll<Option<Item>> {
        let Self { shown, queues } = self;
        queues.get_mut(&stream).map_or(Poll::Ready(None), |queue| queue.poll(context, shown))
    }
}
