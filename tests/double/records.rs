//! Tables of one row a user: profiles and markers.

use std::collections::BTreeMap;

use model::error::Result;
use model::store::{Records, Tier};
use model::{Cursor, Profile, UserId};

use super::Double;
use super::digests::{Row, key, record};

#[derive(Debug, Default)]
pub(super) struct Tables {
    profiles: BTreeMap<UserId, Profile>,
    markers: BTreeMap<UserId, Cursor>,
}

impl Tables {
    /// The rows that the store on disk has.
    pub(super) fn rows(&self) -> Result<Vec<(&'static str, Vec<Row>)>> {
        let profile = |(user, profile): (&UserId, &Profile)| {
            let Profile { nickname, avatar, extra } = profile;
            Ok((key(&[user.get()]), record((nickname, avatar, extra))?))
        };
        let marker = |(user, at): (&UserId, &Cursor)| (key(&[user.get()]), key(&[at.at, at.id.get()]));
        Ok(vec![
            ("profiles", self.profiles.iter().map(profile).collect::<Result<_>>()?),
            ("markers", self.markers.iter().map(marker).collect()),
        ])
    }
}

impl Records for Double {
    fn put_profiles(&self, profiles: &[(UserId, Profile)]) -> Result<()> {
        let mut state = self.state();
        state.records.profiles.extend(profiles.iter().cloned());
        if !profiles.is_empty() {
            state.write_names();
        }
        Ok(())
    }

    fn profiles(&self, users: &[UserId], _: Tier) -> Result<Vec<Option<Profile>>> {
        let state = self.state();
        Ok(users.iter().map(|user| state.records.profiles.get(user).cloned()).collect())
    }

    fn marker(&self, user: UserId, _: Tier) -> Result<Option<Cursor>> {
        Ok(self.state().records.markers.get(&user).copied())
    }

    fn move_marker(&self, user: UserId, place: Cursor, wrong: Option<Cursor>) -> Result<Cursor> {
        let mut state = self.state();
        let present = state.records.markers.get(&user).copied();
        if present >= Some(place) && present != wrong {
            return Ok(present.unwrap_or(place));
        }
        state.records.markers.insert(user, place);
        state.write_names();
        Ok(place)
    }
}
