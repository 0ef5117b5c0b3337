//! What the HTTP side has limits for. Who finds one reached is turned away at once and told when to
//! come back; nobody waits in memory. Only large batches wait for a while, with nothing of
//! them read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;
use crate::error::Code;
use crate::model::Fill;

/// Most requests that wait for the disk at once.
const MAX_BLOCKED: usize = 4096;
/// Of these, most changes.
const MAX_CHANGES: usize = MAX_BLOCKED / 4 * 3;
/// Most looks behind timelines at once: each may go through all of a timeline.
const MAX_AUDITS: usize = 4;
/// Memory for bodies no larger than a single change may be, all open requests together.
const BODY_MEMORY: usize = 64 << 20;
/// Memory for larger ones, unless one batch alone may need more. Apart from the others, so that single
/// changes go on however many batches are under way.
const BATCH_MEMORY: usize = 144 << 20;
/// A body above this size, bytes, is not read before its turn. Reading it costs a thread of the server so much that all
/// of it is in vain if the rest finds no memory.
pub(super) const LARGE_BODY: usize = 1 << 20;
/// Those whose turn has come and that are not published yet, bytes, unless one alone is larger. The rest of the memory of
/// batches is for small ones, and for those that lost their turn.
const TURNS: usize = BATCH_MEMORY / 4 * 3;
/// Most that wait for their turn. The others are read without one.
const WAITING_TURNS: usize = 128;
/// Memory for answers that their clients have not taken yet, unless one answer alone needs more.
const ANSWER_MEMORY: usize = 192 << 20;
/// Batches that are being published, in bytes of bodies for each core (see [`batch_work`]): two cores or more. What is
/// made of a batch on its way to the disk takes a few times its body.
const BATCH_WORK: usize = 16 << 20;
/// What a batch's items count at least, bytes: an item that was published before may be shown larger than it came.
const LEAST_WORK: usize = 16 << 10;
/// No such item takes fewer bytes of a body.
const LEAST_ITEM: usize = 33;
/// Clients of streams for whom what they missed is being read.
const CATCHING_UP: usize = 64;
/// The unit in which memory is shared out, bytes.
const UNIT: usize = 1024;

/// All limits of the HTTP side.
#[derive(Debug)]
pub(super) struct Limits {
    /// Requests that wait for the disk, or are at it.
    pub(super) blocked: Gate,
    /// Changes among them: the others are left for reads.
    pub(super) changes: Gate,
    /// Looks behind timelines.
    pub(super) audits: Gate,
    /// Memory of small request bodies.
    pub(super) bodies: Gate,
    /// Memory of those that only a batch may have.
    pub(super) batches: Gate,
    /// Turns of large bodies, in bytes.
    turns: Gate,
    waiting_turns: Gate,
    /// Batches that are being published; who finds no place waits, with the memory of its body.
    pub(super) batch_work: Gate,
    /// Memory of large answers.
    pub(super) answers: Gate,
    /// Clients of streams for whom what they missed is being read; the others wait.
    pub(super) catching_up: Gate,
    /// Streams: not all connections, so that some are left for requests.
    pub(super) streams: Gate,
    /// Connections. Not asked before one is accepted: the server itself accepts no more than these.
    pub(super) connections: Gate,
}

impl Limits {
    /// For changes of up to `body_limit` bytes, batches of up to `batch_limit` and this many connections.
    pub(super) fn new(body_limit: usize, batch_limit: usize, connections: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).max(2);
        Self {
            blocked: Gate::new(MAX_BLOCKED, 1),
            changes: Gate::new(MAX_CHANGES, 1),
            audits: Gate::new(MAX_AUDITS, 1),
            bodies: Gate::new(BODY_MEMORY.max(body_limit), UNIT),
            batches: Gate::new(BATCH_MEMORY.max(batch_limit), UNIT),
            turns: Gate::new(TURNS.max(batch_limit), UNIT),
            waiting_turns: Gate::new(WAITING_TURNS, 1),
            batch_work: Gate::new(BATCH_WORK * cores, UNIT),
            answers: Gate::new(ANSWER_MEMORY, UNIT),
            catching_up: Gate::new(CATCHING_UP, 1),
            streams: Gate::new((connections - connections / 8).max(1), 1),
            connections: Gate::new(connections, 1),
        }
    }

    /// Waits for the turn of a body of so many bytes, in the order of their coming, no longer than `patience`: then it is
    /// read without one. Small ones need none.
    pub(super) async fn turn(&self, bytes: usize, patience: Duration) -> Option<Places> {
        if bytes <= LARGE_BODY {
            return None;
        }
        let _waits = self.waiting_turns.take_quietly(1)?;
        tokio::time::timeout(patience, self.turns.wait_for(bytes)).await.ok()?.ok()
    }

    /// Each with its name.
    pub(super) fn all(&self) -> [(&'static str, &Gate); 8] {
        [
            ("blocked", &self.blocked),
            ("changes", &self.changes),
            ("audits", &self.audits),
            ("bodies", &self.bodies),
            ("batches", &self.batches),
            ("answers", &self.answers),
            ("streams", &self.streams),
            ("connections", &self.connections),
        ]
    }
}

/// What the work on a batch with a body of so many bytes and at most so many items counts.
pub(super) fn batch_work(body: usize, most_items: usize) -> usize {
    body.max(LEAST_WORK * (body / LEAST_ITEM).min(most_items))
}

/// So many places, and no more. A clone has the same places.
#[derive(Debug, Clone)]
pub(super) struct Gate {
    free: Arc<Semaphore>,
    units: usize,
    unit: usize,
    refused: Arc<AtomicU64>,
}

/// Some places of a [`Gate`], given back when dropped.
pub(super) type Places = OwnedSemaphorePermit;

impl Gate {
    /// For `limit` of something, counted in units of `unit`.
    pub(super) fn new(limit: usize, unit: usize) -> Self {
        let units = limit.div_ceil(unit).min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(units)), units, unit, refused: Arc::default() }
    }

    /// Takes `n`, or turns the request away. More than there is in all counts as all of it.
    pub(super) fn take(&self, n: usize) -> Result<Places, Problem> {
        self.take_quietly(n).ok_or_else(|| self.refuse())
    }

    fn refuse(&self) -> Problem {
        self.refused.fetch_add(1, Ordering::Relaxed);
        Code::Overloaded.into()
    }

    /// The same where so many more are to stay free.
    pub(super) fn take_and_leave(&self, n: usize, left: usize) -> Result<Places, Problem> {
        let wanted = n.saturating_add(left).div_ceil(self.unit).min(self.units);
        let is_there = self.free.available_permits() >= wanted;
        is_there.then(|| self.take_quietly(n)).flatten().ok_or_else(|| self.refuse())
    }

    /// The same for who can wait. They are served in the order of their coming.
    pub(super) async fn wait_for(&self, n: usize) -> Result<Places, Problem> {
        let units = u32::try_from(n.div_ceil(self.unit).min(self.units)).unwrap_or(u32::MAX);
        Arc::clone(&self.free).acquire_many_owned(units).await.map_err(Problem::internal)
    }

    fn take_quietly(&self, n: usize) -> Option<Places> {
        let units = u32::try_from(n.div_ceil(self.unit).min(self.units)).ok()?;
        Arc::clone(&self.free).try_acquire_many_owned(units).ok()
    }

    /// Takes `n`, or what is left of it.
    pub(super) fn take_what_is_free(&self, n: usize) -> Result<Places, Problem> {
        let free = self.free.available_permits() * self.unit;
        // Another may take some between the two looks; nothing is then taken.
        self.take_quietly(n.min(free)).or_else(|| self.take_quietly(0)).ok_or_else(|| Code::Overloaded.into())
    }

    /// Gives `n` of some places back; false, and nothing given back, where they are fewer.
    pub(super) fn give_back(&self, places: &mut Places, n: usize) -> bool {
        places.split(n / self.unit).is_some()
    }

    /// How much there is in all.
    pub(super) fn limit(&self) -> usize {
        self.units * self.unit
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
        assert_eq!(batches.len(), 9, "bounded");
        let changes: Vec<_> = std::iter::from_fn(|| limits.bodies.take(65_536).ok()).take(2000).collect();
        assert_eq!(changes.len(), 1024, "bounded too, and not by batches");
        assert!(Limits::new(65_536, 256 << 20, 10).batches.take(256 << 20).is_ok(), "one batch always fits");
    }

    #[actix_web::test]
    async fn large_bodies_take_turns() {
        let limits = Limits::new(65_536, 16 << 20, 10);
        let (soon, late) = (Duration::from_millis(20), Duration::from_secs(600));
        let mut turns = Vec::new();
        while let Some(turn) = limits.turn(16 << 20, soon).await {
            turns.push(turn);
        }
        assert_eq!(turns.len(), 6, "the next has waited, and is read without a turn");
        assert!(limits.turn(LARGE_BODY, late).await.is_none(), "a small one never waits");
        let many = limits.waiting_turns.take(WAITING_TURNS).expect("free");
        assert!(limits.turn(16 << 20, late).await.is_none(), "no more than so many wait");
        drop((many, turns.pop()));
        assert!(limits.turn(16 << 20, late).await.is_some());
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
