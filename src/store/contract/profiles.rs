//! Profiles.

use crate::error::Result;
use crate::model::{Profile, UserId};
use crate::store::{Store, Tier};

/// Profiles.
impl Store {
    /// Puts a profile in place of what the user had, whole. Acknowledges.
    pub fn put_profile(&self, user: UserId, profile: &Profile) -> Result<()> {
        self.put_profiles(&[(user, profile.clone())])
    }

    /// The same for several users in one change; of one who comes twice, the later counts. Acknowledges.
    pub fn put_profiles(&self, profiles: &[(UserId, Profile)]) -> Result<()> {
        dispatch!(self, s => s.put_profiles(profiles))
    }

    /// The profiles of `users`, in their order; `None` of who never had one.
    pub fn profiles(&self, users: &[UserId], tier: Tier) -> Result<Vec<Option<Profile>>> {
        dispatch!(self, s => s.profiles(users, tier))
    }
}
