//! Pairs of user and source of whom the inbox may not agree with the relation.

use foldhash::HashMap;

use super::{Backlog, JobReservation};
use model::sync::RwLock;
use model::sync::atomic::{AtomicU64, Ordering};
use model::{Count, Job, JobId, UserId};

/// One change of a pair; it has a job once it is on disk.
#[derive(Debug)]
struct Step {
    token: u64,
    job: Option<JobId>,
}

/// Bounded by the backlog's capacity: each step belongs to a job, or to a request that has room for one.
#[derive(Debug, Default)]
pub(super) struct Unsettled {
    pairs: RwLock<HashMap<UserId, HashMap<UserId, Vec<Step>>>>,
    /// How many pairs.
    len: AtomicU64,
    tokens: AtomicU64,
    coalesced: Count,
}

impl Unsettled {
    #[inline]
    pub(super) fn end(&self, user: UserId, source: UserId, job: JobId) {
        self.remove(user, source, |step| step.job == Some(job));
    }

    fn remove(&self, user: UserId, source: UserId, which: impl Fn(&Step) -> bool) {
        let mut pairs = self.pairs.write();
        if let Some(sources) = pairs.get_mut(&user) {
            if let Some(steps) = sources.get_mut(&source) {
                steps.retain(|step| !which(step));
                if steps.is_empty() {
                    sources.remove(&source);
                    self.len.fetch_sub(1, Ordering::Relaxed);
                }
            }
            if sources.is_empty() {
                pairs.remove(&user);
            }
        }
    }

    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.len.load(Ordering::Relaxed)
    }
}

impl Backlog {
    /// Makes a pair unsettled. Must come before the change of the pair is written, so that no reader sees the change and
    /// takes the pair for settled. Undone when the result is dropped uncommitted.
    pub fn unsettle(&self, user: UserId, source: UserId) -> Unsettling<'_> {
        let token = self.unsettled.tokens.fetch_add(1, Ordering::Relaxed);
        let mut pairs = self.unsettled.pairs.write();
        let steps = pairs.entry(user).or_default().entry(source).or_default();
        if steps.is_empty() {
            self.unsettled.len.fetch_add(1, Ordering::Relaxed);
        }
        steps.push(Step { token, job: None });
        Unsettling { backlog: self, user, source, token, committed: false }
    }

    /// Whether a newer settle job of the same pair makes this one needless.
    pub fn is_superseded(&self, user: UserId, source: UserId, job: JobId) -> bool {
        let pairs = self.unsettled.pairs.read();
        let steps = pairs.get(&user).and_then(|sources| sources.get(&source));
        // Changes of one pair are written one after the other, so the higher job number is the later change. A step
        // without a job does not count: it may yet fail.
        let newer =
            steps.is_some_and(|steps| steps.iter().any(|step| step.job.is_some_and(|other| other.seq > job.seq)));
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

    /// Settle jobs that a newer one of the same pair made needless.
    #[inline]
    pub fn coalesced(&self) -> u64 {
        self.unsettled.coalesced.get()
    }
}

/// A pair that is unsettled because a change of it is being written.
#[derive(Debug)]
#[must_use = "the pair is settled again when this is dropped"]
pub struct Unsettling<'a> {
    backlog: &'a Backlog,
    user: UserId,
    source: UserId,
    token: u64,
    committed: bool,
}

impl Unsettling<'_> {
    /// The change is on disk with this settle job: queues the job.
    pub fn commit(mut self, room: &mut JobReservation<'_>, job: Job) {
        self.committed = true;
        let mut pairs = self.backlog.unsettled.pairs.write();
        if let Some(steps) = pairs.get_mut(&self.user).and_then(|sources| sources.get_mut(&self.source))
            && let Some(step) = steps.iter_mut().find(|step| step.token == self.token)
        {
            step.job = Some(job.id);
        }
        drop(pairs);
        self.backlog.add(room, job);
    }
}

impl Drop for Unsettling<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.committed {
            self.backlog.unsettled.remove(self.user, self.source, |step| step.token == self.token);
        }
    }
}
