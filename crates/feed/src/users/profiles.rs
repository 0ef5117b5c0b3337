//! Profiles.

use std::collections::HashMap;

use super::tables;
use crate::feed::Feed;
use crate::read::Read;
use crate::writer::command::{Change, PutProfiles};
use crate::writer::txn::Txn;
use crate::{follows, ids};
use kv::Tier;
use model::error::{Code, Result};
use model::{ExternalId, Profile, UserCounts, UserId};

/// A user's profile and counts. An unknown user has an empty profile and zero counts.
pub fn user(read: Read<'_>, user: UserId) -> Result<(Profile, UserCounts)> {
    let store = &read.feed.store;
    let profile = tables::profiles(store, &[user], read.tier)?.pop().flatten().unwrap_or_default();
    Ok((profile, follows::tables::user_counts(store, user, read.tier)?))
}

/// Replaces a user's whole profile; returns it with the user's counts.
pub fn put_profile(feed: &Feed, user: ExternalId, profile: Profile) -> Result<(Profile, UserCounts)> {
    feed.submit(PutProfiles { profiles: vec![(user.clone(), profile.clone())] })?
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    let counts = follows::tables::user_counts(&feed.store, feed.read().find(&user)?, Tier::Disk)?;
    Ok((profile, counts))
}

impl Change for PutProfiles {
    type Outcome = Vec<Result<bool>>;

    fn apply(self, txn: &mut Txn<'_>) -> Result<Self::Outcome> {
        let feed = txn.feed;
        let Self { profiles } = self;
        let (mut results, mut taken) = (Vec::with_capacity(profiles.len()), Vec::with_capacity(profiles.len()));
        for (place, (user, profile)) in profiles.into_iter().enumerate() {
            match feed.read().find::<UserId>(&user) {
                Err(error) if error.code() != Some(Code::InvalidId) => return Err(error),
                found => results.push(found.map(|_| false)),
            }
            if results[place].is_ok() {
                taken.push((place, user, profile));
            }
        }
        let users: Vec<UserId> = ids::for_change(feed, taken.iter().map(|(_, user, _)| user))?;
        let present = tables::profiles(&feed.store, &users, Tier::Disk)?;
        let mut present: HashMap<_, _> = users.iter().copied().zip(present).collect();
        let mut kept = Vec::with_capacity(taken.len());
        for ((place, _, profile), user) in taken.into_iter().zip(&users) {
            let present = present.entry(*user).or_default();
            if present.as_ref() != Some(&profile) {
                *present = Some(profile.clone());
                kept.push((*user, profile));
                results[place] = Ok(true);
            }
        }
        tables::put_profiles(&feed.store, &kept)?;
        Ok(results)
    }
}
