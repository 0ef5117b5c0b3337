//! Tables of one row a user: profiles, settings, markers and suspensions.

use std::collections::{BTreeMap, BTreeSet};

use model::error::Result;
use model::nickname::beginnings;
use model::store::{Records, Tier};
use model::{Cursor, Effect, EffectKind, Event, Millis, Profile, UserId, UserSettings};

use super::digests::{Row, key, record};
use super::{Double, State};

#[derive(Debug, Default)]
pub(super) struct Tables {
    profiles: BTreeMap<UserId, Profile>,
    markers: BTreeMap<UserId, Cursor>,
    suspended: BTreeMap<UserId, Millis>,
    settings: BTreeMap<UserId, UserSettings>,
}

impl Tables {
    /// Removes the rows of a user.
    pub(super) fn forget(&mut self, user: UserId) {
        self.profiles.remove(&user);
        self.markers.remove(&user);
        self.suspended.remove(&user);
        self.settings.remove(&user);
    }

    /// The rows that the store on disk has.
    pub(super) fn rows(&self) -> Result<Vec<(&'static str, Vec<Row>)>> {
        let profile = |(user, profile): (&UserId, &Profile)| {
            let Profile { nickname, avatar, extra } = profile;
            Ok((key(&[user.get()]), record((nickname, avatar, extra))?))
        };
        let marker = |(user, at): (&UserId, &Cursor)| (key(&[user.get()]), key(&[at.at, at.id.get()]));
        let settings = |(user, settings): (&UserId, &UserSettings)| {
            Ok((
                key(&[user.get()]),
                record((settings.approve_followers, u8::from(!settings.default_audience.is_public())))?,
            ))
        };
        Ok(vec![
            ("settings", self.settings.iter().map(settings).collect::<Result<_>>()?),
            (
                "nicknames",
                self.nicknames()
                    .into_iter()
                    .map(|(text, user)| ([text.as_bytes(), &[0], &key(&[user.get()])].concat(), Vec::new()))
                    .collect(),
            ),
            ("profiles", self.profiles.iter().map(profile).collect::<Result<_>>()?),
            ("markers", self.markers.iter().map(marker).collect()),
            ("suspended", self.suspended.iter().map(|(user, at)| (key(&[user.get()]), key(&[*at]))).collect()),
        ])
    }
}

impl Tables {
    /// The beginnings of nicknames with their users.
    fn nicknames(&self) -> BTreeSet<(String, UserId)> {
        let of = |(user, profile): (&UserId, &Profile)| {
            let user = *user;
            profile.nickname.as_deref().map(beginnings).unwrap_or_default().into_iter().map(move |text| (text, user))
        };
        self.profiles.iter().flat_map(of).collect()
    }
}

impl Records for Double {
    fn put_profiles(&self, profiles: &[(UserId, Profile)]) -> Result<()> {
        let mut state = self.state();
        state.records.profiles.extend(profiles.iter().cloned());
        state.put_effects(profiles.iter().map(|(user, _)| Effect::on(EffectKind::ProfileChanged, *user)));
        Ok(())
    }

    fn users_named(&self, text: &str, limit: usize) -> Result<Vec<UserId>> {
        let found = self.state().records.nicknames().into_iter().filter(|(beginning, _)| beginning.starts_with(text));
        Ok(found.map(|(_, user)| user).take(limit).collect())
    }

    fn profiles(&self, users: &[UserId], _: Tier) -> Result<Vec<Option<Profile>>> {
        let state = self.state();
        Ok(users.iter().map(|user| state.records.profiles.get(user).cloned()).collect())
    }

    fn put_settings(&self, user: UserId, settings: UserSettings) -> Result<()> {
        let mut state = self.state();
        state.records.settings.insert(user, settings);
        state.put_effects([Effect::on(EffectKind::SettingsChanged, user)]);
        Ok(())
    }

    fn settings(&self, user: UserId, _: Tier) -> Result<UserSettings> {
        Ok(self.state().records.settings.get(&user).copied().unwrap_or_default())
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
        state.put_effects([Effect::on(EffectKind::MarkerMoved, user)]);
        Ok(place)
    }

    fn set_suspension(&self, user: UserId, since: Option<Millis>, event: Event) -> Result<bool> {
        let mut state = self.state();
        let suspended = &mut state.records.suspended;
        match (suspended.contains_key(&user), since) {
            (false, Some(since)) => drop(suspended.insert(user, since)),
            (true, None) => drop(suspended.remove(&user)),
            _ => return Ok(false),
        }
        let kind = if since.is_some() { EffectKind::UserSuspended } else { EffectKind::UserUnsuspended };
        state.log(event);
        state.put_effects([Effect::on(kind, user)]);
        Ok(true)
    }

    fn suspended_since(&self, user: UserId, _: Tier) -> Result<Option<Millis>> {
        Ok(self.state().records.suspended.get(&user).copied())
    }

    fn suspended_among(&self, users: &mut dyn Iterator<Item = UserId>, _: Tier) -> Result<Vec<UserId>> {
        let state = self.state();
        let is_one =
            |user: &UserId| state.records.suspended.contains_key(user) || state.erasures.under_way.contains_key(user);
        let suspended: BTreeSet<_> = users.filter(is_one).collect();
        Ok(suspended.into_iter().collect())
    }
}

impl State {
    /// Whether a follow of a user is a request.
    pub(super) fn approves(&self, user: UserId) -> bool {
        self.records.settings.get(&user).is_some_and(|settings| settings.approve_followers)
    }
}
