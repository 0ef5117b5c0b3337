//! Profiles.

use std::collections::HashMap;

use super::Feed;
use crate::error::Result;
use crate::model::{HostId, Profile, UserCounts, UserId};
use crate::store::Tier;

impl Feed {
    /// A user's profile and counts. An unknown user has an empty profile and zero counts.
    pub fn user(&self, user: UserId, tier: Tier) -> Result<(Profile, UserCounts)> {
        let profile = self.store.profiles(&[user], tier)?.pop().flatten().unwrap_or_default();
        Ok((profile, self.store.user_counts(user, tier)?))
    }

    /// Replaces a user's whole profile; returns it with the user's counts.
    pub fn put_profile(&self, user: UserId, profile: Profile) -> Result<(Profile, UserCounts)> {
        let change = self.cards.change(user);
        self.store.put_profile(user, &profile)?;
        drop(change);
        Ok((profile, self.store.user_counts(user, Tier::Disk)?))
    }

    /// Puts profiles in order, all in one change. Returns for each whether it is new or differs from the one before.
    pub fn import_profiles(&self, profiles: Vec<(HostId, Profile)>) -> Result<Vec<bool>> {
        let users: Vec<UserId> = self.give_all(profiles.iter().map(|(user, _)| user))?;
        let profiles: Vec<_> = users.iter().copied().zip(profiles.into_iter().map(|(_, profile)| profile)).collect();
        let mut present: HashMap<_, _> = users.iter().copied().zip(self.store.profiles(&users, Tier::Disk)?).collect();
        let mut put = |(user, profile): &(UserId, Profile)| {
            let present = present.entry(*user).or_default();
            let differs = present.as_ref() != Some(profile);
            if differs {
                *present = Some(profile.clone());
            }
            differs
        };
        let changed: Vec<_> = profiles.iter().map(&mut put).collect();
        let kept = profiles.into_iter().zip(&changed).filter(|(_, changed)| **changed).map(|(profile, _)| profile);
        let kept: Vec<_> = kept.collect();
        let changes: Vec<_> = kept.iter().map(|(user, _)| self.cards.change(*user)).collect();
        self.store.put_profiles(&kept)?;
        drop(changes);
        Ok(changed)
    }
}
