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
/// Memory for request bodies, all open requests together, unless one batch alone may need more.
const BODY_MEMORY: usize = 256 << 20;
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
    /// Memory of request bodies.
    pub(super) bodies: Gate,
    /// Memory of large answers.
    pub(super) answers: Gate,
    /// Connections. Not asked before one is accepted: the server itself accepts no more than these.
    pub(super) connections: Gate,
}

impl Limits {
    /// For batches of up to `batch_limit` bytes and this many connections.
    pub(super) fn new(batch_limit: usize, connections: usize) -> Self {
        Self {
            blocked: Gate::new(MAX_BLOCKED, 1),
            audits: Gate::new(MAX_AUDITS, 1),
            bodies: Gate::new(BODY_MEMORY.max(batch_limit), UNIT),
            answers: Gate::new(ANSWER_MEMORY, UNIT),
            connections: Gate::new(connections, 1),
        }
    }

    /// Each with its name.
    pub(super) fn all(&self) -> [(&'static str, &Gate); 5] {
        [
            ("blocked", &self.blocked),
            ("audits", &self.audits),
            ("bodies", &self.bodies),
            ("answers", &self.answers),
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
