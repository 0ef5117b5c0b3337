//! Profiles.

use super::Feed;
use crate::error::Result;
use crate::model::{Profile, UserCounts, UserId};
use crate::store::Tier;

impl Feed {
    /// A user's profile and counts. Who was never heard of has an empty profile and counts nothing.
    pub fn user(&self, user: UserId, tier: Tier) -> Result<(Profile, UserCounts)> {
        let profile = self.store.profiles(&[user], tier)?.pop().flatten().unwrap_or_default();
        Ok((profile, self.store.user_counts(user, tier)?))
    }

    /// Puts a profile in place of what the user had, whole; returns it with the user's counts.
    pub fn put_profile(&self, user: UserId, profile: Profile) -> Result<(Profile, UserCounts)> {
        self.store.put_profile(user, &profile)?;
        Ok((profile, self.store.user_counts(user, Tier::Disk)?))
    }
}
