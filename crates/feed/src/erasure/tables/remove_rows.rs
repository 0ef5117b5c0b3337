//! The removal of the rows that name a user who is erased, part by part.

use std::ops::ControlFlow;

use super::erasures::erasure;
use super::removal::Removed;
use crate::items::tables::FINAL;
use crate::notices::tables::put_notice_marker;
use crate::rows::keys::{self, EventNumber, Part};
use crate::rows::table::AnyTable;
use crate::rows::tables::{
    ALL, CONTENT, DELETED, ERASURES, EVENTS, FOLLOWING, LISTS, NOTICE_MARKERS, REQUESTS, UNLISTED,
};
use crate::rows::values::Stored;
use crate::rows::values::deletions::Deletion;
use crate::store::Store;
use crate::{events, follows, items, lists, notices};
use kv::{Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{Changed, ContentId, Cursor, EffectKind, ErasedPart, EventKind, Id, Job, Logged, UserId};

/// The table of a part. `Corrupt` if there is none of the name.
pub(crate) fn table_of(part: &ErasedPart) -> Result<AnyTable> {
    let table = ALL.iter().find(|table| table.name == part.table);
    table.copied().ok_or_else(|| Error::Corrupt(format!("no table {:?}", part.table)))
}

/// Whether the rows of a table are follows, or requests to follow. Both ends of what is between two users are one.
pub(crate) fn are_follows(table: AnyTable) -> bool {
    table == FOLLOWING || table == REQUESTS
}

/// Whether a key names a user. No part removes rows of others, whatever a log has.
fn is_of(table: AnyTable, key: &[u8], user: UserId) -> bool {
    let [is_first, is_last] = [table.keys.first(), table.keys.last()].map(|part| part == Some(&Part::USER));
    is_first && key.starts_with(&keys::id(user.get())) || is_last && key.ends_with(&keys::id(user.get()))
}

/// The users in rows of pairs of users, beside the one who is erased.
pub(crate) fn others(table: AnyTable, user: UserId, keys: &[Vec<u8>]) -> Vec<UserId> {
    let of_user = keys.iter().filter(|key| table.keys == [Part::USER, Part::USER] && is_of(table, key, user));
    let other = |(first, second): (u64, u64)| UserId::new(if first == user.get() { second } else { first }).ok();
    of_user.filter_map(|key| keys::read(key).and_then(other)).collect()
}

/// Removes the rows of a part, as far as they are there and name the user, in one change. Items of the user have no text
/// any more, and are to be purged; users who follow the user no more have settle jobs, and so has the user. Returns the
/// jobs. Nothing is written if no erasure of the user is under way. Acknowledges.
pub fn erase(store: &Store, user: UserId, part: &ErasedPart) -> Result<Vec<Job>> {
    if !store.memory.erasing.has(user) {
        return Ok(Vec::new());
    }
    let (table, keys, mut removed) = (table_of(part)?, &part.keys, Removed::default());
    match table {
        _ if table == CONTENT => erase_items(store, &mut removed, user, &ids_of(keys)?)?,
        _ if table == EVENTS => erase_changes(store, &mut removed, user, keys)?,
        _ if table == LISTS => erase_lists(store, &mut removed, user, keys)?,
        _ if table == NOTICE_MARKERS => erase_markers(store, &mut removed, user, &ids_of(keys)?)?,
        _ if are_follows(table) => erase_follows(store, &mut removed, user, &others(table, user, keys))?,
        _ => removed.rows(store, table, keys.iter().filter(|key| is_of(table, key, user)))?,
    }
    let (rows, jobs) = (removed.rows, std::mem::take(&mut removed.jobs));
    let mut change = removed.change();
    let Some(mut erasure) = erasure(store, user)? else { return Ok(jobs) };
    if rows > 0 {
        erasure.rows += rows as u64;
        ERASURES.put(&mut change, user, &erasure)?;
    }
    if !change.is_empty() {
        // A part that a power cut takes is found again: the end alone is durable before it counts. Others would wait for
        // the device behind each part.
        store.write(Some(Write::Erase), change, false)?;
    }
    Ok(jobs)
}

fn erase_items(store: &Store, removed: &mut Removed, user: UserId, ids: &[ContentId]) -> Result<()> {
    let stored = items::tables::stored(store, ids, Tier::Disk)?;
    let indexing = items::tables::indexing(store, stored.iter().flatten().map(|stored| &stored.content))?;
    for (id, stored) in ids.iter().zip(&stored) {
        let Some(Stored { content, deleted_at }) = stored else {
            removed.rows += usize::from(erase_purged(store, &mut removed.change, user, *id)?);
            continue;
        };
        let (is_own, is_mentioned) = (content.author == user, content.mentions.contains(&user));
        let left = if is_own && *deleted_at != Some(FINAL) {
            Stored { content: content.clone().blank(), deleted_at: Some(FINAL) }
        } else if !is_own && (is_mentioned || content.to.contains(&user)) {
            Stored { content: content.clone().without_user(user), deleted_at: *deleted_at }
        } else {
            continue;
        };
        if is_mentioned && !is_own {
            notices::tables::remove_mention(store, &mut removed.change, user, content)?;
        }
        items::tables::change_item(&mut removed.change, [stored.as_ref(), Some(&left)], &indexing)?;
        removed.rows += 1;
    }
    Ok(())
}

/// Removes the user from the sources of a purged item of another; false if the user is none of them.
fn erase_purged(store: &Store, change: &mut WriteBatch, user: UserId, id: ContentId) -> Result<bool> {
    let Some((_, deleted_at, mut purged)) = items::tables::purged_among(store, &[id])?.pop() else { return Ok(false) };
    let Some(place) = purged.sources.iter().position(|source| *source == user) else { return Ok(false) };
    purged.sources.remove(place);
    let place = (user, Cursor { at: purged.published_at, id });
    DELETED.put(change, id, &Deletion { at: deleted_at, purged: Some(purged) })?;
    UNLISTED.delete(change, place);
    Ok(true)
}

fn erase_follows(store: &Store, removed: &mut Removed, user: UserId, others: &[UserId]) -> Result<()> {
    for relation in follows::tables::relations(store, user, others, Tier::Disk)? {
        let (ended, effects) = follows::tables::part(store, &mut removed.change, &relation)?;
        removed.jobs.extend(ended.into_iter().flatten());
        removed.rows += usize::from(!effects.is_empty());
    }
    Ok(())
}

/// A marker at a notice that the user has caused stays at its time.
fn erase_markers(store: &Store, removed: &mut Removed, user: UserId, owners: &[UserId]) -> Result<()> {
    for owner in owners {
        let marker = notices::tables::notice_marker(store, *owner, Tier::Disk)?;
        if let Some(place) = marker.filter(|place| place.actor() == Some(user)) {
            put_notice_marker(&mut removed.change, *owner, [marker, Some(place.without_actor())])?;
            removed.rows += 1;
        }
    }
    Ok(())
}

fn erase_lists(store: &Store, removed: &mut Removed, user: UserId, keys: &[Vec<u8>]) -> Result<()> {
    for key in keys {
        let name = key.get(keys::ID..).and_then(|name| str::from_utf8(name).ok());
        let name = name.ok_or_else(|| Error::Corrupt("the name of a list".to_owned()))?;
        if let Some(list) = lists::tables::list(store, user, name, Tier::Disk)? {
            lists::tables::remove_list(store, &mut removed.change, user, &list)?;
            removed.rows += 1;
        }
    }
    Ok(())
}

/// The newest change keeps its number: the next start goes on behind it.
fn erase_changes(store: &Store, removed: &mut Removed, user: UserId, keys: &[Vec<u8>]) -> Result<()> {
    let mut newest = None;
    events::tables::newest_logged(store, &mut |row| {
        newest = Some(row.number());
        ControlFlow::Break(())
    })?;
    for key @ EventNumber(number) in keys.iter().filter_map(|key| keys::read(key)) {
        let Some(row) = EVENTS.get(store.now(Tier::Disk), key)?.filter(|row| row.names(user)) else { continue };
        removed.rows += 1;
        let left = match &row {
            Logged::Event(event) if event.entry.author != user => Some(Logged::Event(event.clone().without_path(user))),
            // The begin of an erasure is told to readers who come late, too.
            Logged::Effect { changed, top } if changed.effect.kind == EffectKind::UserErased => {
                let effect = changed.effect.clone().without_user();
                Some(Logged::Effect { changed: Changed { effect, ..*changed }, top: *top })
            }
            // Streams that come late are not told of the user's items one by one: they load all again.
            Logged::Event(event) if event.kind == EventKind::Suspension => {
                Some(Logged::Event(row.replaced_by(EventKind::Gap)))
            }
            _ => (newest == Some(number)).then(|| Logged::Event(row.replaced_by(EventKind::Gap))),
        };
        EVENTS.set(&mut removed.change, key, left.as_ref())?;
    }
    Ok(())
}

fn ids_of<I: Id>(keys: &[Vec<u8>]) -> Result<Vec<I>> {
    let id = |key: &Vec<u8>| keys::read(key).and_then(|raw| I::of(raw).ok());
    keys.iter().map(|key| id(key).ok_or_else(|| Error::Corrupt("a key that should be an id".to_owned()))).collect()
}
