//! Content: publish, edit, delete, purge, restore, read.
//!
//! A deleted item keeps its row in `content`, marked, until it is purged. Its row in `deleted` hides its rows in
//! inboxes, and stays after the purge: the id is taken for ever.

use super::index::{Indexing, change_item, indexing};
use super::paths::sources_taken_off;
use super::rows::{is_deleted, is_purged, live, purged_among, stored};
use crate::items::tables::{Batch, FINAL, Published, Push, Restored, is_deleted_before};
use crate::rows::keys;
use crate::rows::mirrors::unlisted_purged;
use crate::rows::tables::{CONTENT, DELETED, UNLISTED, ending_with_item};
use crate::rows::values::Stored;
use crate::rows::values::deletions::{Deletion, Purged};
use crate::store::Store;
use crate::{events, inbox, notices};
use kv::{Scope, Tier, WriteBatch};
use model::error::Result;
use model::failpoint::Write;
use model::priority::Pace;
use model::{
    Content, ContentEdit, ContentId, Effect, EffectKind, Event, Job, KindId, Millis, Moment, Publish, Reach, Work,
};

/// Publishes items, all new ones in one atomic change: the content, and for each path its row in the outbox of this
/// source and a fan-out job, or instead of the jobs the record that it reaches no inbox, see [`Push`].
/// If the application has named the id and it exists, the result is `Same` if the item is not deleted and has the same fingerprint
/// (and time, if given); else `Taken`. With [`Batch::AllOrNone`] nothing is written if any item is `Taken`. Of two publishes
/// of one id, at most one is new. Ids within one call must differ. Acknowledges.
///
/// The event of a new item is written in the same change.
pub fn publish(store: &Store, items: &[Publish], batch: Batch, push: Push) -> Result<Vec<Published>> {
    // Ids that are made here are free.
    let named: Vec<_> = items.iter().filter(|item| !item.id_made).map(|item| item.content.id).collect();
    let mut stored = stored(store, &named, Tier::Disk)?.into_iter();
    let known = |item: &Publish| match item.id_made {
        true => Ok(None),
        false => known(store, item, stored.next().flatten()),
    };
    let known: Vec<_> = items.iter().map(known).collect::<Result<_>>()?;
    let refused = batch == Batch::AllOrNone && known.contains(&Some(Published::Taken));
    let new = items.iter().zip(&known).filter(|(_, known)| !refused && known.is_none());
    let new: Vec<_> = new.map(|(item, _)| &item.content).collect();
    let indexing = indexing(store, new.iter().copied())?;
    let mut results = Vec::with_capacity(items.len());
    let (mut change, mut effects) = (WriteBatch::default(), Vec::new());
    let mut pace = Pace::default();
    for (item, known) in items.iter().zip(known) {
        pace.step();
        results.push(match known {
            Some(known) => known,
            None if refused => Published::New(Vec::new()),
            None => {
                let stored = Stored { content: item.content.clone(), deleted_at: None };
                events::tables::put_event(&mut change, item.event.as_ref(), &stored.content)?;
                effects.extend(item.effect());
                Published::New(put_live(store, &mut change, [None, Some(&stored)], &indexing, push)?)
            }
        });
    }
    if !refused && !change.is_empty() {
        leave_out(store, push, new.iter().copied())?;
        notices::tables::put_published_notices(store, &mut change, &new)?;
        store.acknowledge(Write::Publish, change, effects)?;
    }
    Ok(results)
}

/// The numbers of kinds for a change, in their order. A kind without a number gets the next one, which stays if the change
/// is made; see [`KeptRows::end_change`](crate::store::KeptRows::end_change). `too_many_kinds` if none is left, and then none is
/// given.
pub fn give_kinds(store: &Store, kinds: &[&str]) -> Result<Vec<KindId>> {
    let (numbers, new) = store.memory.kinds.content.numbers(kinds);
    let numbers = numbers.into_iter().map(|number| number.map(KindId)).collect::<Result<_>>()?;
    store.begin_change(store.memory.kinds.content.give(&new)?)?;
    Ok(numbers)
}

/// The numbers of kinds, in their order; `None` for one without a number.
pub fn known_kinds(store: &Store, kinds: &[&str]) -> Result<Vec<Option<KindId>>> {
    let known = store.memory.kinds.content.known();
    Ok(kinds.iter().map(|kind| known.number(kind).map(KindId)).collect())
}

/// The names of all kinds with a number, each at the place that is its number.
pub fn kind_names(store: &Store) -> Result<Vec<String>> {
    Ok(store.memory.kinds.content.known().names().to_vec())
}

/// Changes an item and returns its new state; `None` if it is missing or deleted. Concurrent edits of one item
/// apply one after the other. Writes by `Store::acknowledge`.
pub fn edit(store: &Store, id: ContentId, edit: ContentEdit, moment: Moment) -> Result<Option<Content>> {
    let Some(mut stored) = live(store, id)? else { return Ok(None) };
    let content = &mut stored.content;
    edit.apply(content);
    content.edited_at = Some(moment.at);
    let mut change = WriteBatch::default();
    events::tables::put_event(&mut change, moment.event.as_ref(), content)?;
    CONTENT.put(&mut change, id, &stored)?;
    store.acknowledge(Write::Edit, change, Vec::new())?;
    Ok(Some(stored.content))
}

/// Deletes an item: marks the content, records the deletion, and removes its outbox row, its rows in lists and its
/// part in counts, in one change. Entries in inboxes stay and are ignored; items that point at it stay. False if it is
/// missing or already deleted. Acknowledges.
pub fn delete(store: &Store, id: ContentId, moment: Moment) -> Result<bool> {
    let Some(stored) = live(store, id)? else { return Ok(false) };
    let deleted = Stored { deleted_at: Some(moment.at), ..stored.clone() };
    put_deletion(store, [&stored, &deleted], moment.event.as_ref(), Vec::new())?;
    Ok(true)
}

/// Deletes an item for good: makes a deletion final, of a live item like [`delete`], and takes the text, the
/// media, `extra` and the topics out of the row, in one change with the event, if the item is live. What is left goes with
/// [`purge_rows`](crate::erasure::tables::purge_rows) and [`purge`]. False, and nothing written, if it is missing
/// or was deleted before `deleted_since`: such a deletion is final already. Acknowledges.
pub fn delete_for_good(store: &Store, id: ContentId, deleted_since: Millis, event: Option<Event>) -> Result<bool> {
    let Some(stored) = stored(store, &[id], Tier::Disk)?.pop().flatten() else { return Ok(false) };
    if stored.deleted_at.is_some_and(|at| is_deleted_before(at, deleted_since)) {
        return Ok(false);
    }
    let effect = Effect::on(EffectKind::Purged, stored.content.author).item(id).named(stored.content.kind.as_str());
    let blank = Stored { content: stored.content.clone().blank(), deleted_at: Some(FINAL) };
    let event = event.filter(|_| stored.deleted_at.is_none());
    put_deletion(store, [&stored, &blank], event.as_ref(), vec![effect])?;
    Ok(true)
}

/// Purges an item deleted before `deleted_before`: removes the content, its counts and the list of its comments, in
/// one write. No change may be under way. The deletion stays recorded, so the id stays taken and its entries in inboxes
/// stay hidden; and so do the author and the sources, until a purge while the author is being erased. False, and nothing
/// changed, if there is nothing to purge, or rows such as reactions still go with the item.
pub fn purge(store: &Store, id: ContentId, deleted_before: Millis) -> Result<bool> {
    let Some(stored) = stored(store, &[id], Tier::Disk)?.pop().flatten() else { return forget_purged(store, id) };
    let deleted_at = stored.deleted_at.filter(|at| is_deleted_before(*at, deleted_before));
    let Some(deleted_at) = deleted_at else { return Ok(false) };
    if has_rows(store, id)? {
        return Ok(false);
    }
    let mut change = WriteBatch::default();
    let content = &stored.content;
    change_item(&mut change, [Some(&stored), None], &indexing(store, [])?)?;
    // Notices on it, and entries in inboxes, name the author until their time is over.
    let purged = purged(store, content)?;
    let purged = (!store.memory.erasing.has(content.author)).then_some(purged);
    for row in purged.iter().flat_map(|purged| unlisted_purged(id, purged)) {
        change.put(&UNLISTED, row, []);
    }
    put_purged(store, &mut change, id, &Deletion { at: deleted_at, purged })?;
    notices::tables::remove_published_notices(store, &mut change, content)?;
    store.follow_up(Write::Purge, change)?;
    Ok(true)
}

/// Makes an id without an item that of a purged one: records a deletion that is final, and removes its counts and the
/// list of its comments, in one change. `Some(false)`, and nothing written, for the id of a purged item; `None` if there
/// is an item, live or deleted. Acknowledges.
pub fn take_id(store: &Store, id: ContentId) -> Result<Option<bool>> {
    if let Some(stored) = stored(store, &[id], Tier::Disk)?.pop().flatten() {
        // One that is deleted for good is purged soon.
        return Ok((stored.deleted_at == Some(FINAL)).then_some(false));
    }
    if is_deleted(store, id, Tier::Disk)? {
        return Ok(Some(false));
    }
    let mut change = WriteBatch::default();
    put_purged(store, &mut change, id, &Deletion { at: FINAL, purged: None })?;
    store.acknowledge(Write::Purge, change, Vec::new())?;
    Ok(Some(true))
}

/// Restores an item that was deleted at `deleted_since` or later and of which nothing is purged: it is live again
/// as it was, with new fan-out jobs or none, in one change. Acknowledges.
pub fn restore(
    store: &Store,
    id: ContentId,
    deleted_since: Millis,
    event: Option<Event>,
    push: Push,
) -> Result<Restored> {
    let Some(deleted) = stored(store, &[id], Tier::Disk)?.pop().flatten() else { return Ok(Restored::Gone) };
    let mut stored = deleted.clone();
    match stored.deleted_at {
        // An erasure that has passed the item would miss it.
        _ if store.memory.erasing.has(stored.content.author) => return Ok(Restored::Gone),
        None => return Ok(Restored::Live(stored.content)),
        Some(deleted_at) if is_deleted_before(deleted_at, deleted_since) => return Ok(Restored::Gone),
        Some(_) => stored.deleted_at = None,
    }
    // An erasure that has passed the list of the path would miss it, too.
    for source in deleted.content.to.iter().filter(|source| store.memory.erasing.has(**source)) {
        stored.content = stored.content.without_path(*source);
    }
    let indexing = indexing(store, [&stored.content])?;
    let mut change = WriteBatch::default();
    events::tables::put_event(&mut change, event.as_ref(), &stored.content)?;
    let jobs = put_live(store, &mut change, [Some(&deleted), Some(&stored)], &indexing, push)?;
    leave_out(store, push, [&stored.content])?;
    store.acknowledge(Write::Restore, change, Vec::new())?;
    Ok(Restored::Now(stored.content, jobs))
}

/// The result of a publish whose id is known; `None` if the id is free.
fn known(store: &Store, item: &Publish, stored: Option<Stored>) -> Result<Option<Published>> {
    Ok(match stored {
        Some(present) if is_same(item, &present) => Some(Published::Same(present.content)),
        Some(_) => Some(Published::Taken),
        None => is_purged(store, item.content.id, Tier::Disk)?.then_some(Published::Taken),
    })
}

/// Adds all rows of an item that becomes live to a change, with its fan-out jobs unless they are left out.
pub(crate) fn put_live(
    store: &Store,
    change: &mut WriteBatch,
    items: [Option<&Stored>; 2],
    indexing: &Indexing<'_>,
    push: Push,
) -> Result<Vec<Job>> {
    change_item(change, items, indexing)?;
    let [_, live] = items;
    let entries = live.filter(|_| push == Push::Queued).into_iter().flat_map(|live| live.content.entries());
    entries.map(|entry| inbox::tables::put_job(store, change, Work::FanOut { entry })).collect()
}

/// Writes an item that is deleted from now on, as it was and as it is then. Acknowledges.
fn put_deletion(store: &Store, items: [&Stored; 2], event: Option<&Event>, effects: Vec<Effect>) -> Result<()> {
    let [Stored { content, .. }, _] = items;
    let indexing = indexing(store, [content])?;
    let mut change = WriteBatch::default();
    events::tables::put_event(&mut change, event, content)?;
    change_item(&mut change, items.map(Some), &indexing)?;
    store.acknowledge(Write::Delete, change, effects)
}

/// Writes that new items reach no inbox, if they are left out. Before the items, for which it is no fault: a read looks
/// into the outbox for nothing.
fn leave_out<'c>(store: &Store, push: Push, new: impl IntoIterator<Item = &'c Content>) -> Result<()> {
    if push == Push::Queued {
        return Ok(());
    }
    let entries: Vec<_> = new.into_iter().flat_map(Content::entries).collect();
    let mut change = WriteBatch::default();
    let _turns = inbox::tables::put_unpushed(store, &mut change, &entries, Reach::Nobody)?;
    store.follow_up(Write::BeginFanOut, change)
}

/// The row of an item that is purged.
fn purged(store: &Store, content: &Content) -> Result<Purged> {
    let mut sources = content.to.clone();
    sources.extend(sources_taken_off(store, content.id)?);
    sources.retain(|source| *source != content.author);
    sources.sort_unstable();
    sources.dedup();
    Ok(Purged { author: content.author, published_at: content.published_at, sources })
}

/// Forgets whose a purged item was, if the author is being erased; false if nothing is known of that.
fn forget_purged(store: &Store, id: ContentId) -> Result<bool> {
    let Some((_, deleted_at, purged)) = purged_among(store, &[id])?.pop() else { return Ok(false) };
    if !store.memory.erasing.has(purged.author) {
        return Ok(false);
    }
    let mut change = WriteBatch::default();
    for row in unlisted_purged(id, &purged) {
        change.delete(&UNLISTED, row);
    }
    DELETED.put(&mut change, id, &Deletion { at: deleted_at, purged: None })?;
    store.follow_up(Write::Purge, change)?;
    Ok(true)
}

/// Adds to a change that an id is that of a purged item, with its row of `deleted`: nobody can use it again, and nothing
/// counts or lists what points at it.
fn put_purged(store: &Store, change: &mut WriteBatch, id: ContentId, row: &Deletion) -> Result<()> {
    DELETED.put(change, id, row)?;
    let [from, to] = [id.get(), id.get().saturating_add(1)].map(keys::id);
    ending_with_item(true).try_for_each(|table| store.now(Tier::Disk).delete_rows(change, table, &from, &to))
}

/// Whether a publish repeats the one that made the stored item.
fn is_same(item: &Publish, present: &Stored) -> bool {
    present.deleted_at.is_none() && item.repeats(&present.content)
}

/// Whether an item has rows, such as reactions, of which each is to be removed with others that follow.
fn has_rows(store: &Store, id: ContentId) -> Result<bool> {
    let prefix = keys::id(id.get());
    for table in ending_with_item(false) {
        if !store.now(Tier::Disk).beginning((table, Scope::Partition), &prefix, &prefix, 1, |_, _| Ok(()))?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
