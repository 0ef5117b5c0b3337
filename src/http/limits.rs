//! What the HTTP side has limits for. Who finds one reached is turned away at once and told when to
//! come back; nobody waits in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;
use crate::model::Fill;

/// Most requests that wait for the disk at once.
const MAX_BLOCKED: usize = 4096;
/// Most looks behind timelines at once: each may go through all of a timeline.
const MAX_AUDITS: usize = 4;
/// Memory for bodies no larger than a single change may be, all open requests together.
const BODY_MEMORY: usize = 64 << 20;
/// Memory for larger ones, unless one batch alone may need more. Apart from the others, so that single
/// changes go on however many batches are under way.
const BATCH_MEMORY: usize = 192 << 20;
/// Memory for answers that their clients have not taken yet, unless one answer alone needs more.
const ANSWER_MEMORY: usize = 256 << 20;
/// The unit in which memory is shared out, bytes.
const UNIT: usize = 1024;

/// All limits of the HTTP side.
#[derive(Debug)]
pub(super) struct Limits {
    /// Requests that wait for the disk, or are at it.
    pub(super) blocked: Gate,
    /// Looks behind timelines.
    pub(super) audits: Gate,
    /// Memory of small request bodies.
    pub(super) bodies: Gate,
    /// Memory of those that only a batch may have.
    pub(super) batches: Gate,
    /// Memory of large answers.
    pub(super) answers: Gate,
    /// Streams: not all connections, so that some are left for requests.
    pub(super) streams: Gate,
    /// Connections. Not asked before one is accepted: the server itself accepts no more than these.
    pub(super) connections: Gate,
}

impl Limits {
    /// For changes of up to `body_limit` bytes, batches of up to `batch_limit` and this many connections.
    pub(super) fn new(body_limit: usize, batch_limit: usize, connections: usize) -> Self {
        Self {
            blocked: Gate::new(MAX_BLOCKED, 1),
            audits: Gate::new(MAX_AUDITS, 1),
            bodies: Gate::new(BODY_MEMORY.max(body_limit), UNIT),
            batches: Gate::new(BATCH_MEMORY.max(batch_limit), UNIT),
            answers: Gate::new(ANSWER_MEMORY, UNIT),
            streams: Gate::new((connections - connections / 8).max(1), 1),
            connections: Gate::new(connections, 1),
        }
    }

    /// Each with its name.
    pub(super) fn all(&self) -> [(&'static str, &Gate); 7] {
        [
            ("blocked", &self.blocked),
            ("audits", &self.audits),
            ("bodies", &self.bodies),
            ("batches", &self.batches),
            ("answers", &self.answers),
            ("streams", &self.streams),
            ("connections", &self.connections),
        ]
    }
}

/// So many places, and no more.
#[derive(Debug)]
pub(super) struct Gate {
    free: Arc<Semaphore>,
    units: usize,
    unit: usize,
    refused: AtomicU64,
}

/// Some places of a [`Gate`], given back when dropped.
pub(super) type Places = OwnedSemaphorePermit;

impl Gate {
    /// For `limit` of something, counted in units of `unit`.
    pub(super) fn new(limit: usize, unit: usize) -> Self {
        let units = limit.div_ceil(unit).min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(units)), units, unit, refused: AtomicU64::new(0) }
    }

    /// Takes `n`, or turns the request away. More than there is in all counts as all of it.
    pub(super) fn take(&self, n: usize) -> Result<Places, Problem> {
        let units = n.div_ceil(self.unit).min(self.units);
        let taken = u32::try_from(units).ok().and_then(|units| {
            let free = Arc::clone(&self.free);
            free.try_acquire_many_owned(units).ok()
        });
        taken.ok_or_else(|| {
            self.refused.fetch_add(1, Ordering::Relaxed);
            Problem::overloaded()
        })
    }

    /// How much is taken, and of how much.
    pub(super) fn fill(&self) -> Fill {
        Fill::of((self.units - self.free.available_permits()) * self.unit, self.units * self.unit)
    }

    /// How many were turned away.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_leave_single_changes_their_share() {
        let limits = Limits::new(65_536, 16 << 20, 10);
        let batches: Vec<_> = std::iter::from_fn(|| limits.batches.take(16 << 20).ok()).take(100).collect();
        assert_eq!(batches.len(), 12, "bounded");
        let changes: Vec<_> = std::iter::from_fn(|| limits.bodies.take(65_536).ok()).take(2000).collect();
        assert_eq!(changes.len(), 1024, "bounded too, and not by batches");
        assert!(Limits::new(65_536, 256 << 20, 10).batches.take(256 << 20).is_ok(), "one batch always fits");
    }

    #[test]
    fn who_comes_too_late_is_counted_and_takes_nothing() {
        let gate = Gate::new(10_000, 1000);
        let first = gate.take(8001).expect("fits");
        assert_eq!(gate.fill(), Fill { used: 9000, limit: 10_000 });
        assert!(gate.take(1001).is_err() && gate.take(1 << 60).is_err());
        assert_eq!(gate.refused(), 2);
        let rest = gate.take(1000).expect("fits");
        assert_eq!(gate.fill().used, 10_000);
        drop((first, rest));
        assert_eq!(gate.fill().used, 0);
        assert!(gate.take(1 << 60).is_ok(), "more than there is passes alone");
    }
}
