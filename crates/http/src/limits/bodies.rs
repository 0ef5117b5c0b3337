//! Memory of bodies, and how many large ones are read and published at once.

use std::time::Duration;

use super::quota::{Holder, Places, Quota};
use config::cores;

/// Memory for bodies within the limit of a single change, all open requests together.
const BODY_MEMORY: usize = 64 << 20;
/// Memory for larger bodies, unless one batch alone may need more. It is separate, so that single changes go on during
/// any number of batches.
const BATCH_MEMORY: usize = 144 << 20;
/// The body limit of a batch, as a multiple of the body limit of one change.
const BATCH_FACTOR: usize = 256;
/// A body above this size, bytes, waits for its turn before it is read. Reading it costs a server thread much time, all
/// in vain if the rest finds no memory.
const LARGE_BODY: usize = 1 << 20;
/// Most bytes of bodies that have a turn and are not published yet, unless one alone is larger. The rest of the memory
/// of batches is for small bodies, and for those that lost their turn.
const TURNS: usize = BATCH_MEMORY / 4 * 3;
/// Most bodies that wait for a turn. Others are read without one.
const WAITING_TURNS: usize = 128;
/// Most bytes of bodies, for each core, whose batches are published at once (see [`BodyLimits::work_on`]); at least two cores
/// are assumed. On its way to the disk, a batch takes a few times the memory of its body.
const BATCH_WORK: usize = 16 << 20;
/// Least bytes that an item of a batch counts: an item published before may be longer when shown.
const LEAST_WORK: usize = 16 << 10;
/// Least bytes of such an item in a body.
const LEAST_ITEM: usize = 33;

/// Limits of bodies.
#[derive(Debug)]
pub(crate) struct BodyLimits {
    /// Most bytes of the body of one change.
    pub(crate) one: usize,
    /// Most bytes of a batch of changes.
    pub(crate) batch: usize,
    /// Memory of bodies that one change may have, too.
    pub(crate) small: Quota,
    /// Memory of bodies that only a batch may have.
    pub(crate) large: Quota,
    /// Turns of large bodies, in bytes.
    turns: Quota,
    waiting_turns: Quota,
    /// Batches in publication.
    work: Quota,
}

impl BodyLimits {
    pub(super) fn new(one: usize) -> Self {
        let batch = one.saturating_mul(BATCH_FACTOR);
        Self {
            one,
            batch,
            small: Quota::new(BODY_MEMORY.max(one)),
            large: Quota::new(BATCH_MEMORY.max(batch)),
            turns: Quota::new(TURNS.max(batch)),
            waiting_turns: Quota::new(WAITING_TURNS),
            work: Quota::new(BATCH_WORK * cores().max(2)),
        }
    }

    /// The quota for the memory of a body that may have `most` bytes.
    pub(crate) fn memory(&self, most: usize) -> &Quota {
        if most <= self.one { &self.small } else { &self.large }
    }

    /// Waits for the turn of a body of this size, in order of arrival. After `time_limit`, or if too many wait, the body
    /// is read without a turn. Small bodies need none.
    pub(crate) async fn turn(&self, holder: Holder, bytes: usize, time_limit: Duration) -> Option<Places> {
        if bytes <= LARGE_BODY {
            return None;
        }
        let _waits = self.waiting_turns.take_quietly(holder, 1)?;
        tokio::time::timeout(time_limit, self.turns.wait_for(holder, bytes)).await.ok()
    }

    /// Waits, with the memory of the body, until a batch may be published: one of so many bytes and at most so many items.
    pub(crate) async fn work_on(&self, holder: Holder, body: usize, most_items: usize) -> Places {
        self.work.wait_for(holder, body.max(LEAST_WORK * (body / LEAST_ITEM).min(most_items))).await
    }
}
