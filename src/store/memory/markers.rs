//! How far users have read.

use super::Memory;
use crate::error::Result;
use crate::model::{Cursor, UserId};
use crate::store::types::Tier;

impl Memory {
    /// See [`Store::marker`](crate::store::Store::marker).
    pub fn marker(&self, user: UserId, _: Tier) -> Result<Option<Cursor>> {
        Ok(self.state().markers.get(&user).copied())
    }

    /// See [`Store::move_marker`](crate::store::Store::move_marker).
    pub fn move_marker(&self, user: UserId, place: Cursor) -> Result<Cursor> {
        let mut state = self.state();
        let marker = state.markers.entry(user).or_insert(place);
        *marker = place.max(*marker);
        Ok(*marker)
    }

    /// See [`Store::settle_marker`](crate::store::Store::settle_marker).
    pub fn settle_marker(&self, user: UserId, present: Cursor, place: Option<Cursor>) -> Result<Option<Cursor>> {
        let mut state = self.state();
        if state.markers.get(&user) == Some(&present) {
            match place {
                Some(place) => state.markers.insert(user, place),
                None => state.markers.remove(&user),
            };
        }
        Ok(state.markers.get(&user).copied())
    }
}
