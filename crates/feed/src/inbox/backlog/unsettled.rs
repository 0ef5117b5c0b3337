//! Pairs of user and source of whom the inbox may not agree with the relation.

use super::held::Held;
use super::{Backlog, JobReservation};
use model::{Job, JobId, UserId};

/// The pairs by user and source, each held by its changes that are being written and by its settle jobs, with the number of the
/// newest job.
pub(super) type Unsettled = Held<UserId, Option<u64>>;

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
        let pairs = self.unsettled.by_user();
        let newest = pairs.get(&user).and_then(|sources| sources.get(&source)?.0);
        // Changes of one pair are written one after the other, so the higher job number is the later change.
        let newer = newest > Some(job.seq);
        if newer {
            self.coalesced.add(1);
        }
        newer
    }

    /// The sources of a user's unsettled pairs, ascending.
    pub fn unsettled(&self, user: UserId) -> Vec<UserId> {
        let pairs = self.unsettled.by_user();
        pairs.get(&user).map(|sources| sources.keys().copied().collect()).unwrap_or_default()
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
        self.pairs.iter().for_each(|(user, source)| self.backlog.unsettled.release(*user, source));
    }
}
