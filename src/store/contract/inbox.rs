//! Inboxes and fan-out.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::model::{ContentId, Cursor, Entry, Job, JobId, Order, Reach, Span, UserId};
use crate::store::{Delivery, Store, Tier};

/// Inboxes and fan-out. The caller runs the jobs of one lane one after the other, except
/// [`Store::deliver`] for different recipients of one job.
impl Store {
    /// Walks an inbox above its floor within `span`, in `order`, until `visit` breaks.
    /// Returns the floor: at or below it the inbox makes no claim; `None` means that it is complete
    /// to its end. Floor and rows are of one instant.
    pub fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        tier: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>> {
        dispatch!(self, s => s.inbox(user, span, order, tier, visit))
    }

    /// Raises the floor of an inbox; a lower floor than the present one changes nothing.
    pub fn raise_floor(&self, user: UserId, floor: Cursor) -> Result<()> {
        dispatch!(self, s => s.raise_floor(user, floor))
    }

    /// Records who will get an item, before the first recipient is chosen, and with it the
    /// author's [`Unpushed`](crate::model::Unpushed) for a reach short of all.
    pub fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()> {
        dispatch!(self, s => s.begin_fan_out(job, entry, reach))
    }

    /// Puts an entry into inboxes, with the job's progress or its end, in one change.
    pub fn deliver(&self, delivery: &Delivery<'_>) -> Result<()> {
        dispatch!(self, s => s.deliver(delivery))
    }

    /// Makes a user's entries of one author agree with the present relation, and ends the job, in
    /// one change. A follower gets the author's newest `room` entries above the floor; if there are
    /// more, the floor rises to the first that was left out. Who does not follow loses them all.
    /// Returns how many rows above the floor changed.
    pub fn settle(&self, job: JobId, user: UserId, author: UserId, room: usize) -> Result<usize> {
        dispatch!(self, s => s.settle(job, user, author, room))
    }

    /// Ends a job that has nothing left to do.
    pub fn drop_job(&self, job: JobId) -> Result<()> {
        dispatch!(self, s => s.drop_job(job))
    }

    /// All jobs on disk, by lane, then oldest first.
    pub fn jobs(&self) -> Result<Vec<Job>> {
        dispatch!(self, s => s.jobs())
    }
}
