//! Tables of one row a user: profiles and markers.

use rocksdb::WriteBatch;

use crate::Rocks;
use crate::rows::tables::{MARKERS, PROFILES};
use crate::rows::{keys, values};
use model::error::Result;
use model::failpoint::Write;
use model::store::{Records, Tier};
use model::{Cursor, Profile, UserId};

impl Records for Rocks {
    fn put_profiles(&self, profiles: &[(UserId, Profile)]) -> Result<()> {
        let mut batch = WriteBatch::default();
        for (user, profile) in profiles {
            batch.put_cf(self.family(PROFILES)?, keys::id(user.get()), values::profile(profile)?);
        }
        let users: Vec<_> = profiles.iter().map(|(user, _)| *user).collect();
        if batch.is_empty() { Ok(()) } else { self.acknowledge(Write::Record, batch, &users) }
    }

    fn profiles(&self, users: &[UserId], tier: Tier) -> Result<Vec<Option<Profile>>> {
        self.read_many(PROFILES, users.iter().map(|user| keys::id(user.get())), tier, values::read_profile)
    }

    fn marker(&self, user: UserId, tier: Tier) -> Result<Option<Cursor>> {
        self.read(MARKERS, &keys::id(user.get()), tier, values::read_marker)
    }

    fn move_marker(&self, user: UserId, place: Cursor, wrong: Option<Cursor>) -> Result<Cursor> {
        let _lock = self.record_locks.of(user.get()).lock();
        if let Some(present) = self.marker(user, Tier::Disk)?
            && present >= place
            && Some(present) != wrong
        {
            return Ok(present);
        }
        let mut change = WriteBatch::default();
        change.put_cf(self.family(MARKERS)?, keys::id(user.get()), values::cursor(place));
        self.acknowledge(Write::Record, change, &(user, place))?;
        Ok(place)
    }
}
