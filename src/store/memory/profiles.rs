//! Profiles.

use super::Memory;
use crate::error::Result;
use crate::model::{Profile, UserId};
use crate::store::types::Tier;

impl Memory {
    /// See [`Store::put_profiles`](crate::store::Store::put_profiles).
    pub fn put_profiles(&self, profiles: &[(UserId, Profile)]) -> Result<()> {
        self.state().profiles.extend(profiles.iter().cloned());
        Ok(())
    }

    /// See [`Store::profiles`](crate::store::Store::profiles).
    pub fn profiles(&self, users: &[UserId], _: Tier) -> Result<Vec<Option<Profile>>> {
        let state = self.state();
        Ok(users.iter().map(|user| state.profiles.get(user).cloned()).collect())
    }
}
