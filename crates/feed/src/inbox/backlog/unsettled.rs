//! Pairs of user and source of whom the inbox may not agree with the relation.

use foldhash::HashMap;

use super::{Backlog, JobReservation};
use model::sync::RwLock;
use model::sync::atomic::{AtomicU64, Ordering};
use model::{Count, Job, JobId, UserId};

/// A pair: its changes that are being written and its settle jobs, and the number of the newest job.
#[derive(Debug, Default)]
struct Pair {
    holds: usize,
    newest: Option<u64>,
}

/// Bounded by the backlog's capacity: each hold belongs to a job, or to a change that has room for one.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    pairs: RwLock<HashMap<UserId, HashMap<UserId, Pair>>>,
    /// How many pairs.
    len: AtomicU64,
    coalesced: Count,
}

impl Unsettled {
    /// Holds a pair, for a job if it has one already.
    pub(super) fn hold(&self, user: UserId, source: UserId, job: Option<JobId>) {
        let mut pairs = self.pairs.write();
        let pair = pairs.entry(user).or_default().entry(source).or_default();
        if pair.holds == 0 {
            self.len.fetch_add(1, Ordering::Relaxed);
        }
        pair.holds += 1;
        pair.newest = pair.newest.max(job.map(|job| job.seq));
    }

    pub(super) fn release(&self, user: UserId, source: UserId) {
        let mut pairs = self.pairs.write();
        let Some(sources) = pairs.get_mut(&user) else { return };
        if let Some(pair) = sources.get_mut(&source) {
            pair.holds -= 1;
            if pair.holds == 0 {
                sources.remove(&source);
                self.len.fetch_sub(1, Ordering::Relaxed);
            }
        }
        if sources.is_empty() {
            pairs.remove(&user);
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }

    /// Settle jobs that a newer one of the same pair made needless.
    pub(super) fn coalesced(&self) -> u64 {
        self.coalesced.get()
    }
}

impl Backlog {
    /// Makes pairs unsettled until the result is dropped. Must come before the changes of the pairs are written, so that no
    /// reader sees a change and takes its pair for settled. `room` is for their settle jobs.
    pub fn unsettle<'a>(
        &'a self,
        room: JobReservation<'a>,
        pairs: impl IntoIterator<Item = (UserId, UserId)>,
    ) -> Unsettling<'a> {
        let pairs: Vec<_> = pairs.into_iter().collect();
        pairs.iter().for_each(|(user, source)| self.unsettled.hold(*user, *source, None));
        Unsettling { backlog: self, room, pairs }
    }

    /// Whether a newer settle job of the same pair makes this one needless.
    pub fn is_superseded(&self, user: UserId, source: UserId, job: JobId) -> bool {
        let pairs = self.unsettled.pairs.read();
        let pair = pairs.get(&user).and_then(|sources| sources.get(&source));
        // Changes of one pair are written one after the other, so the higher job number is the later change.
        let newer = pair.is_some_and(|pair| pair.newest > Some(job.seq));
        if newer {
            self.unsettled.coalesced.add(1);
        }
        newer
    }

    /// The sources of a user's unsettled pairs, ascending.
    pub fn unsettled(&self, user: UserId) -> Vec<UserId> {
        let pairs = self.unsettled.pairs.read();
        let mut sources: Vec<_> = pairs.get(&user).map(|sources| sources.keys().copied().collect()).unwrap_or_default();
        sources.sort_unstable();
        sources
    }
}

/// Pairs that are unsettled because changes of them are being written.
#[derive(Debug)]
#[must_use = "the pairs are settled again when this is dropped"]
pub struct Unsettling<'a> {
    backlog: &'a Backlog,
    room: JobReservation<'a>,
    pairs: Vec<(UserId, UserId)>,
}

impl Unsettling<'_> {
    /// The changes are on disk with these settle jobs: queues the jobs.
    pub fn commit(mut self, jobs: impl IntoIterator<Item = Job>) {
        jobs.into_iter().for_each(|job| self.backlog.add(&mut self.room, job));
    }
}

impl Drop for Unsettling<'_> {
    fn drop(&mut self) {
        self.pairs.iter().for_each(|(user, source)| self.backlog.unsettled.release(*user, *source));
    }
}
