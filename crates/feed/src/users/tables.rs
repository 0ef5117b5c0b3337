//! Tables of one row a user: profiles, settings, markers and suspensions.

use std::collections::BTreeMap;

use crate::events;
use crate::rows::keys::{Key, Nickname, Part};
use crate::rows::mirrors::Given;
use crate::rows::table::{AnyTable, Table};
use crate::rows::tables::{ALL, COUNTS, INBOXES, MARKERS, NICKNAMES, PROFILES, SETTINGS, SUSPENDED};
use crate::rows::walk::partitions_after;
use crate::store::Store;
use kv::{Scope, Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{Cursor, Effect, EffectKind, Event, Millis, Profile, UserId, UserSettings};

/// Replaces a user's whole profile. Acknowledges.
pub fn put_profile(store: &Store, user: UserId, profile: &Profile) -> Result<()> {
    put_profiles(store, &[(user, profile.clone())])
}

/// Replaces the profiles of several users in one change; if a user occurs twice, the later profile counts. Acknowledges.
pub fn put_profiles(store: &Store, profiles: &[(UserId, Profile)]) -> Result<()> {
    let mut batch = WriteBatch::default();
    let users: Vec<_> = profiles.iter().map(|(user, _)| *user).collect();
    let before = self::profiles(store, &users, Tier::Disk)?;
    let before: BTreeMap<_, _> = users.iter().zip(before).collect();
    let last: BTreeMap<_, _> = profiles.iter().map(|(user, profile)| (user, profile)).collect();
    for (user, profile) in last {
        set_profile(&mut batch, *user, [before.get(user).and_then(Option::as_ref), Some(profile)])?;
    }
    let effects: Vec<_> = users.iter().map(|user| Effect::on(EffectKind::ProfileChanged, *user)).collect();
    if batch.is_empty() { Ok(()) } else { store.acknowledge(Write::Record, batch, effects) }
}

/// The users with a nickname in which one of its [`beginnings`](model::nickname::beginnings) begins with `text`, which
/// is folded: in the order of these beginnings, then of the users, who may come more than once. The first `limit`.
pub fn users_named(store: &Store, text: &str, limit: usize) -> Result<Vec<UserId>> {
    let text = text.as_bytes();
    store.now(Tier::Disk).beginning((&NICKNAMES, Scope::Table), text, text, limit, |key, _| {
        let (_, user) = Nickname::read(key).ok_or_else(|| Error::Corrupt(format!("a key in {NICKNAMES}")))?;
        Ok(user)
    })
}

/// The profiles of `users`, in their order; `None` for a user without one.
pub fn profiles(store: &Store, users: &[UserId], tier: Tier) -> Result<Vec<Option<Profile>>> {
    PROFILES.get_many(store.now(tier), users)
}

/// Replaces a user's settings. A follow that begins after it goes by them. Acknowledges.
pub fn put_settings(store: &Store, user: UserId, settings: UserSettings) -> Result<()> {
    let mut change = WriteBatch::default();
    SETTINGS.put(&mut change, user, &settings)?;
    store.acknowledge(Write::Record, change, vec![Effect::on(EffectKind::SettingsChanged, user)])
}

/// The settings of a user; the default for a user without any.
pub fn settings(store: &Store, user: UserId, tier: Tier) -> Result<UserSettings> {
    if !store.memory.loaded.filter(&SETTINGS).may_have(user.get()) {
        return Ok(UserSettings::default());
    }
    Ok(SETTINGS.get(store.now(tier), user)?.unwrap_or_default())
}

/// The place in the home timeline up to which a user has read; `None` until one was set.
pub fn marker(store: &Store, user: UserId, tier: Tier) -> Result<Option<Cursor>> {
    MARKERS.get(store.now(tier), user)
}

/// Moves a user's marker up to `place` and returns its place afterwards. If it is there or beyond, nothing is
/// written; but from `wrong`, if that is given, it moves back, too. Moves of one user apply one after the other.
/// Acknowledges.
pub fn move_marker(store: &Store, user: UserId, place: Cursor, wrong: Option<Cursor>) -> Result<Cursor> {
    move_place(store, (MARKERS, user), (user, None), place, wrong)
}

/// Suspends a user from a time on, or takes that back (`None`), with the event in the same change. Returns whether
/// anything changed: a suspended user keeps its time. Acknowledges.
pub fn set_suspension(store: &Store, user: UserId, since: Option<Millis>, event: Event) -> Result<bool> {
    if suspended_since(store, user, Tier::Disk)?.is_some() == since.is_some() {
        return Ok(false);
    }
    let mut change = WriteBatch::default();
    SUSPENDED.set(&mut change, user, since.as_ref())?;
    events::tables::put(&mut change, event)?;
    let kind = if since.is_some() { EffectKind::UserSuspended } else { EffectKind::UserUnsuspended };
    store.acknowledge(Write::Record, change, vec![Effect::on(kind, user)])?;
    Ok(true)
}

/// Since when a user is suspended; `None` for all others.
pub fn suspended_since(store: &Store, user: UserId, tier: Tier) -> Result<Option<Millis>> {
    if !store.memory.loaded.filter(&SUSPENDED).may_have(user.get()) {
        return Ok(None);
    }
    SUSPENDED.get(store.now(tier), user)
}

/// The suspended ones among `users` and those who are being erased, each once, ascending. Costs next to nothing if there
/// are none.
pub fn suspended_among(store: &Store, users: &mut dyn Iterator<Item = UserId>, tier: Tier) -> Result<Vec<UserId>> {
    if store.memory.loaded.filter(&SUSPENDED).is_empty() && !store.memory.erasing.any() {
        return Ok(Vec::new());
    }
    let may_be =
        |user: &UserId| store.memory.loaded.filter(&SUSPENDED).may_have(user.get()) || store.memory.erasing.has(*user);
    let mut asked: Vec<_> = users.filter(may_be).collect();
    asked.sort_unstable();
    asked.dedup();
    let mut suspended = SUSPENDED.have(store.now(tier), &asked)?.into_iter();
    asked.retain(|user| suspended.next() == Some(true) || store.memory.erasing.has(*user));
    Ok(asked)
}

/// Moves the marker in this row; see [`move_marker`].
pub(crate) fn move_place<K, I: Key<K> + Copy>(
    store: &Store,
    (table, id): (Table<K, Cursor>, I),
    (user, list): (UserId, Option<&str>),
    place: Cursor,
    wrong: Option<Cursor>,
) -> Result<Cursor> {
    if let Some(present) = table.get(store.now(Tier::Disk), id)?
        && present >= place
        && Some(present) != wrong
    {
        return Ok(present);
    }
    let mut change = WriteBatch::default();
    table.put(&mut change, id, &place)?;
    let moved = Effect { name: list.map(Into::into), ..Effect::on(EffectKind::MarkerMoved, user) };
    store.acknowledge(Write::Record, change, vec![moved])?;
    Ok(place)
}

/// Changes the profile of a user; `None` for none.
pub(crate) fn set_profile(change: &mut WriteBatch, user: UserId, profile: [Option<&Profile>; 2]) -> Result<()> {
    PROFILES.change(change, user, profile, &Given::default())
}

/// Up to `limit` users with ids above `after`, ascending, who have a row that must agree with others: in an inbox
/// or an own page, a follow, a request or a restriction that the other side must know, a count.
pub fn users_after(store: &Store, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
    store.write_arrivals()?;
    let mut partitions = Vec::new();
    let of_pairs = |table: AnyTable| matches!(table.keys, [Part::USER, Part::Id(_)]);
    let of_users = |table: &&AnyTable| match table.keys {
        [Part::USER, Part::Id(_)] => true,
        [Part::USER, Part::Place(_)] => table.follows.iter().any(|(of, _)| of_pairs(of)),
        _ => [INBOXES.spec, COUNTS.spec].contains(*table),
    };
    for table in ALL.iter().filter(of_users) {
        partitions.extend(partitions_after(store, table, after, limit)?);
    }
    partitions.sort_unstable();
    partitions.dedup();
    partitions.truncate(limit);
    Ok(partitions)
}
