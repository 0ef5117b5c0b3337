//! The removal of the rows that name a user who is erased, part by part.

use std::ops::ControlFlow;

use super::erasures::erasure;
use crate::items::tables::FINAL;
use crate::lists::tables::put_member;
use crate::notices::tables::put_notice_marker;
use crate::restrictions::tables::put_restriction;
use crate::rows::key_types::EventNumber;
use crate::rows::tables::{DELETED, ERASURES, EVENTS, LIST_MEMBERS, REACTIONS, TAKEN_OFF, UNLISTED};
use crate::rows::values::deletions::Deletion;
use crate::rows::values::{ItemSteps, Stored};
use crate::store::Store;
use crate::{events, follows, items, lists, notices, reactions};
use kv::{Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{
    Changed, ContentId, Cursor, EffectKind, Entry, ErasedPart, EventKind, Id, Job, ListId, Logged, Millis, Relation,
    Restriction, UserId,
};

/// The rows that a part removes.
#[derive(Default)]
struct Removed {
    change: WriteBatch,
    rows: usize,
    jobs: Vec<Job>,
}

/// Removes the rows of a part, as far as they are there and name the user, in one change. Items of the user have no text
/// any more, and are to be purged; users who follow the user no more have settle jobs, and so has the user. Returns the
/// jobs. Nothing is written if no erasure of the user is under way. Acknowledges.
pub fn erase(store: &Store, user: UserId, part: &ErasedPart) -> Result<Vec<Job>> {
    if !store.memory.erasing.has(user) {
        return Ok(Vec::new());
    }
    let mut removed = Removed::default();
    match part {
        ErasedPart::Items(ids) => erase_items(store, &mut removed, user, &ids_of(ids)?)?,
        ErasedPart::Others(ids) => erase_others(store, &mut removed, user, &ids_of(ids)?)?,
        ErasedPart::TakenOff(ids) => erase_taken_off(store, &mut removed, user, &ids_of(ids)?)?,
        ErasedPart::Reactions(reactions) => erase_reactions(store, &mut removed, user, reactions)?,
        ErasedPart::Lists(names) => erase_lists(store, &mut removed, user, names)?,
        ErasedPart::Memberships(lists) => erase_memberships(store, &mut removed, user, &ids_of(lists)?)?,
        ErasedPart::Changes(numbers) => erase_changes(store, &mut removed, user, numbers)?,
    }
    let Removed { mut change, rows, jobs } = removed;
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

fn erase_taken_off(store: &Store, removed: &mut Removed, user: UserId, ids: &[ContentId]) -> Result<()> {
    let present = TAKEN_OFF.have(store.now(Tier::Disk), ids.iter().map(|id| (*id, user)))?;
    for id in ids {
        TAKEN_OFF.delete(&mut removed.change, (*id, user));
    }
    removed.rows += present.into_iter().filter(|is_there| *is_there).count();
    Ok(())
}

fn erase_others(store: &Store, removed: &mut Removed, user: UserId, others: &[UserId]) -> Result<()> {
    let Removed { change, rows, jobs } = removed;
    for relation in follows::tables::relations(store, user, others, Tier::Disk)? {
        let back = follows::tables::relations(store, relation.target, &[user], Tier::Disk)?;
        let marker = notices::tables::notice_marker(store, relation.target, Tier::Disk)?;
        let marker = marker.filter(|place| place.actor() == Some(user));
        if let Some(place) = marker {
            let after = Some(place.without_actor());
            put_notice_marker(change, relation.target, [marker, after])?;
        }
        *rows += usize::from(marker.is_some() || back.iter().chain([&relation]).any(is_any));
        let (ended, _) = follows::tables::part(store, change, &relation)?;
        jobs.extend(ended.into_iter().flatten());
        for relation in back.iter().chain([&relation]) {
            for restriction in Restriction::ALL {
                if let Some(since) = relation.restricted_since(restriction) {
                    put_restriction(change, relation, restriction, [Some(since), None])?;
                }
            }
        }
    }
    Ok(())
}

fn erase_reactions(store: &Store, removed: &mut Removed, user: UserId, reactions: &[(u8, Millis, u64)]) -> Result<()> {
    let ids: Vec<ContentId> = ids_of(&reactions.iter().map(|(_, _, id)| *id).collect::<Vec<_>>())?;
    let keys = ids.iter().zip(reactions).map(|(id, (byte, ..))| (*id, *byte, user));
    let since = REACTIONS.get_many(store.now(Tier::Disk), keys)?;
    let authors = notices::tables::authors_of(store, &ids)?;
    for ((id, (byte, at, _)), since) in ids.iter().zip(reactions).zip(since) {
        // Its notice is the author's.
        let item = Entry::plain(Cursor { at: *at, id: *id }, authors.get(id).copied().unwrap_or(user));
        reactions::tables::put_reaction(
            store,
            &mut removed.change,
            item,
            (user, *byte, since.unwrap_or_default()),
            false,
        )?;
        if since.is_some() {
            let steps = ItemSteps { reactions: [(*byte, -1)].into(), ..ItemSteps::default() };
            items::tables::count_item(&mut removed.change, *id, &steps);
            removed.rows += 1;
        }
    }
    Ok(())
}

fn erase_lists(store: &Store, removed: &mut Removed, user: UserId, names: &[String]) -> Result<()> {
    for name in names {
        if let Some(list) = lists::tables::list(store, user, name, Tier::Disk)? {
            lists::tables::remove_list(store, &mut removed.change, user, &list)?;
            removed.rows += 1;
        }
    }
    Ok(())
}

fn erase_memberships(store: &Store, removed: &mut Removed, user: UserId, lists: &[ListId]) -> Result<()> {
    let members = LIST_MEMBERS.get_many(store.now(Tier::Disk), lists.iter().map(|list| (*list, user)))?;
    for (list, membership) in lists.iter().zip(members) {
        if let Some(membership) = membership {
            put_member(&mut removed.change, *list, user, [Some(membership), None])?;
            removed.rows += 1;
        }
    }
    Ok(())
}

/// The newest change keeps its number: the next start goes on behind it.
fn erase_changes(store: &Store, removed: &mut Removed, user: UserId, numbers: &[u64]) -> Result<()> {
    let mut newest = None;
    events::tables::newest_logged(store, &mut |row| {
        newest = Some(row.number());
        ControlFlow::Break(())
    })?;
    for number in numbers {
        let key = EventNumber(*number);
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
            _ => (newest == Some(*number)).then(|| Logged::Event(row.replaced_by(EventKind::Gap))),
        };
        EVENTS.set(&mut removed.change, key, left.as_ref())?;
    }
    Ok(())
}

/// Whether one user has anything to do with the other.
fn is_any(of: &Relation) -> bool {
    let restricted = Restriction::ALL.into_iter().any(|restriction| of.restricted_since(restriction).is_some());
    of.following_since.is_some() || of.requested_since.is_some() || restricted
}

fn ids_of<I: Id>(raw: &[u64]) -> Result<Vec<I>> {
    let id = |raw: &u64| I::of(*raw).map_err(|_| Error::Corrupt("the id 0".to_owned()));
    raw.iter().map(id).collect()
}
