//! How far users have read.

use rocksdb::WriteBatch;

use super::tables::MARKERS;
use super::{Rocks, keys, values};
use crate::error::Result;
use crate::failpoint::Write;
use crate::model::{Cursor, UserId};
use crate::store::Tier;

impl Rocks {
    /// See [`Store::marker`](crate::store::Store::marker).
    pub fn marker(&self, user: UserId, tier: Tier) -> Result<Option<Cursor>> {
        let Some(row) = self.get(MARKERS, &keys::id(user.get()), tier)? else { return Ok(None) };
        values::read_marker(&row).map(Some)
    }

    /// See [`Store::move_marker`](crate::store::Store::move_marker).
    pub fn move_marker(&self, user: UserId, place: Cursor) -> Result<Cursor> {
        let _lock = self.marker_locks.one(user.get());
        if let Some(present) = self.marker(user, Tier::Disk)?
            && present >= place
        {
            return Ok(present);
        }
        let mut change = WriteBatch::default();
        change.put_cf(self.family(MARKERS)?, keys::id(user.get()), values::cursor(place));
        self.acknowledge(Write::MoveMarker, change)?;
        Ok(place)
    }

    /// See [`Store::settle_marker`](crate::store::Store::settle_marker).
    pub fn settle_marker(&self, user: UserId, present: Cursor, place: Option<Cursor>) -> Result<Option<Cursor>> {
        let _lock = self.marker_locks.one(user.get());
        let found = self.marker(user, Tier::Disk)?;
        if found != Some(present) {
            return Ok(found);
        }
        let mut change = WriteBatch::default();
        let (family, key) = (self.family(MARKERS)?, keys::id(user.get()));
        match place {
            Some(place) => change.put_cf(family, key, values::cursor(place)),
            None => change.delete_cf(family, key),
        }
        self.acknowledge(Write::MoveMarker, change)?;
        Ok(place)
    }
}
