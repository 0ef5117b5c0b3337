//! Profiles.

use rocksdb::WriteBatch;

use super::tables::PROFILES;
use super::{Rocks, keys, values};
use crate::error::Result;
use crate::failpoint::Write;
use crate::model::{Profile, UserId};
use crate::store::Tier;

impl Rocks {
    /// See [`Store::put_profiles`](crate::store::Store::put_profiles).
    pub fn put_profiles(&self, profiles: &[(UserId, Profile)]) -> Result<()> {
        let mut batch = WriteBatch::default();
        for (user, profile) in profiles {
            batch.put_cf(self.family(PROFILES)?, keys::id(user.get()), values::profile(profile)?);
        }
        if batch.is_empty() { Ok(()) } else { self.acknowledge(Write::Profile, batch) }
    }

    /// See [`Store::profiles`](crate::store::Store::profiles).
    pub fn profiles(&self, users: &[UserId], tier: Tier) -> Result<Vec<Option<Profile>>> {
        let keys: Vec<_> = users.iter().map(|user| keys::id(user.get())).collect();
        let rows = self.get_many(PROFILES, keys.iter().map(<[u8; 8]>::as_slice), tier)?;
        rows.into_iter().map(|row| row.map(|bytes| values::read_profile(&bytes)).transpose()).collect()
    }
}
