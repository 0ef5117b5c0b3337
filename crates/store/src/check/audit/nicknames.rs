//! The beginnings of nicknames by which users are found: those of each profile, and no others.

use super::{Audit, Wanted, Way};
use crate::rows::tables::{NICKNAMES, PROFILES};
use crate::rows::{keys, values};
use crate::subjects::records::beginnings_of;
use model::UserId;
use model::error::Result;
use model::store::{Records as _, Tier};

impl Audit<'_> {
    /// Compares both tables. A profile that cannot be read is reported with the other records.
    pub(super) fn nicknames(&mut self) -> Result<()> {
        self.mirror(PROFILES, Way::Out, |row| {
            let user = super::names::one(&row.key).and_then(|id| UserId::new(id).ok());
            let beginnings =
                values::read_profile(&row.value).map(|profile| beginnings_of(&profile)).unwrap_or_default();
            let wanted =
                |user| beginnings.into_iter().map(move |text| Wanted::new(NICKNAMES, keys::nickname(&text, user), []));
            Some(user.map(wanted).into_iter().flatten().collect())
        })?;
        self.each_batch(NICKNAMES, |audit, rows| {
            for row in rows {
                let Some((text, user)) = keys::split_nickname(&row.key).filter(|_| row.value.is_empty()) else {
                    audit.unreadable(NICKNAMES, row);
                    continue;
                };
                let Ok(mut profiles) = audit.store.profiles(&[user], Tier::Disk) else { continue };
                if !profiles
                    .pop()
                    .flatten()
                    .is_some_and(|profile| beginnings_of(&profile).iter().any(|beginning| beginning == text))
                {
                    audit.has(NICKNAMES, &row.key, ", which does not agree with profiles");
                }
            }
            Ok(())
        })
    }
}
