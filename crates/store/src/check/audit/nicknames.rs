//! The beginnings of nicknames by which users are found: those of each profile, and no others.

use super::{Audit, Wanted, Way};
use crate::rows::tables::{NICKNAMES, PROFILES};
use crate::rows::{keys, values};
use model::UserId;
use model::error::Result;
use model::store::Tier;

impl Audit<'_> {
    /// Compares both tables. A profile that cannot be read is reported with the other records.
    pub(super) fn nicknames(&mut self) -> Result<()> {
        self.mirror(PROFILES, Way::Out, |row| {
            let user = super::names::one(&row.key).and_then(|id| UserId::new(id).ok());
            let profile = values::read_profile(&row.value).unwrap_or_default();
            let wanted = user.into_iter().flat_map(|user| keys::nicknames(&profile, user));
            Some(wanted.map(|key| Wanted::new(NICKNAMES, key, [])).collect())
        })?;
        self.each_batch(NICKNAMES, |audit, rows| {
            let mut read = Vec::new();
            for row in rows {
                match keys::split_nickname(&row.key).filter(|_| row.value.is_empty()) {
                    Some((_, user)) => read.push((row, user)),
                    None => audit.unreadable(NICKNAMES, row),
                }
            }
            let keys = read.iter().map(|(_, user)| keys::id(user.get()));
            let profiles = audit.store.get_many(PROFILES, keys, Tier::Disk)?;
            for ((row, user), profile) in read.into_iter().zip(profiles) {
                let Ok(profile) = profile.map(|row| values::read_profile(&row)).transpose() else { continue };
                if !profile.is_some_and(|profile| keys::nicknames(&profile, user).any(|key| key[..] == row.key[..])) {
                    audit.has(NICKNAMES, &row.key, ", which does not agree with profiles");
                }
            }
            Ok(())
        })
    }
}
