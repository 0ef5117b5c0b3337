//! Users' activity and authors' unpushed items.

use crate::error::Result;
use crate::model::{Activity, Cursor, Job, JobId, Millis, Unpushed, UserId};
use crate::store::{Idle, Split, Store, Tier, Touched};

/// Users' activity and authors' unpushed items.
impl Store {
    /// What is known of a user's activity.
    pub fn activity(&self, user: UserId, tier: Tier) -> Result<Activity> {
        dispatch!(self, s => s.activity(user, tier))
    }

    /// Notes when a user was first heard of, unless something is known already. From then on the
    /// user counts as idle; see [`Store::idle`].
    pub fn meet(&self, user: UserId, now: Millis) -> Result<()> {
        dispatch!(self, s => s.meet(user, now))
    }

    /// Marks a user as seen. One who was dormant or evicted becomes returning, with a rebuild job in
    /// the same change. Two calls for one user apply one after the other, also against
    /// [`Store::split_active`] and [`Store::evict`].
    pub fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
        dispatch!(self, s => s.touch(user, now))
    }

    /// Splits off the users that get partial pushes, and makes dormant those of them that were last
    /// seen before `seen_since`. The new state is visible before this returns.
    pub fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        dispatch!(self, s => s.split_active(users, seen_since))
    }

    /// Leaves out the evicted. Nearly free where nobody is.
    pub fn not_evicted(&self, users: Vec<UserId>) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.not_evicted(users))
    }

    /// Looks through the next `limit` users above `after` for those who have an inbox and were last
    /// seen, or first heard of, before `seen_before`.
    pub fn idle(&self, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle> {
        dispatch!(self, s => s.idle(after, limit, seen_before))
    }

    /// Drops the inbox of a user last seen before `seen_before`: evicted, and the floor raised to
    /// `floor`, in one change. False, and nothing changed, if the user was seen since or has none.
    pub fn evict(&self, user: UserId, seen_before: Millis, floor: Cursor) -> Result<bool> {
        dispatch!(self, s => s.evict(user, seen_before, floor))
    }

    /// Ends a rebuild: a settle job for each of `authors`, the user active, the rebuild job gone, in
    /// one change. Does only the last if it is not this job for which the user is returning: the
    /// user has been dormant again, and `authors` may be out of date. Returns the new jobs.
    pub fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId]) -> Result<Vec<Job>> {
        dispatch!(self, s => s.rebuild(job, user, authors))
    }

    /// The author's newest items that did not reach every follower.
    pub fn unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        dispatch!(self, s => s.unpushed(author, tier))
    }

    /// Those of `authors` of whom an inbox with this floor may lack something above it; see
    /// [`Unpushed::leaves_gaps`]. Nearly free for authors who have nothing unpushed. In any order.
    pub fn lacking(&self, authors: &[UserId], floor: Option<Cursor>, active: bool, tier: Tier) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.lacking(authors, floor, active, tier))
    }
}
