//! How far users have read.

use crate::error::Result;
use crate::model::{Cursor, UserId};
use crate::store::{Store, Tier};

/// How far users have read.
impl Store {
    /// The place in the home timeline up to which a user has read; `None` until one was set.
    pub fn marker(&self, user: UserId, tier: Tier) -> Result<Option<Cursor>> {
        dispatch!(self, s => s.marker(user, tier))
    }

    /// Moves a user's marker up to `place` and returns where it then is; one that is there already, or
    /// beyond, stays and nothing is written. Moves of one user apply one after the other. Acknowledges.
    pub fn move_marker(&self, user: UserId, place: Cursor) -> Result<Cursor> {
        dispatch!(self, s => s.move_marker(user, place))
    }

    /// Puts a user's marker from `present` to `place`, back too, or takes it away, and returns where it then is. One
    /// that is not at `present` stays. Acknowledges.
    pub fn settle_marker(&self, user: UserId, present: Cursor, place: Option<Cursor>) -> Result<Option<Cursor>> {
        dispatch!(self, s => s.settle_marker(user, present, place))
    }
}
