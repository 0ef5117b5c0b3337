//! Mutes, and hiding from others.

use crate::error::Result;
use crate::model::{Barrier, Millis, Relation, UserId};
use crate::store::{Store, Tier};

/// Mutes, and hiding from others. What keeps content out of a timeline is looked at when it is read;
/// inboxes keep their rows. The lists by time are [`Store::members`].
impl Store {
    /// Raises a barrier of a user against a target since then, or lifts it (`None`); the relation
    /// afterwards. One that stands keeps its `since`. Refused with the barrier's own code, and nothing
    /// written, when the user would have more than `limit` of the kind. Acknowledges.
    pub fn set_barrier(
        &self,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Option<Millis>,
        limit: usize,
    ) -> Result<Relation> {
        dispatch!(self, s => s.set_barrier(user, target, barrier, since, limit))
    }

    /// Whose content a reader is shown, ascending: the followees, less those whom the reader has muted
    /// and those who hide from the reader. Follows and barriers are of one instant. Costs no more than a
    /// few looks for each followee, however many barriers there are, and next to nothing where there is none.
    pub fn authors(&self, reader: UserId, tier: Tier) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.authors(reader, tier))
    }

    /// Those of some users whose content a reader is shown, in their order; as [`Store::authors`] has them.
    pub fn authors_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.authors_among(reader, users, tier))
    }

    /// Up to `limit` users above `after` against whom a user has raised a barrier, ascending.
    pub fn barred_after(
        &self,
        user: UserId,
        barrier: Barrier,
        after: Option<UserId>,
        limit: usize,
    ) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.barred_after(user, barrier, after, limit))
    }

    /// Up to `limit` users above `after` who hide from a reader, ascending.
    pub fn hiders_after(&self, reader: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.hiders_after(reader, after, limit))
    }
}
