//! Erasures of users: which are under way, and the rows that name their users.

use crate::memory::archived::Walks;
use crate::rows::changes::change_row;
use crate::rows::keys::{self, Part};
use crate::rows::table::AnyTable;
use crate::rows::tables::{
    ALL, CONTENT, COUNTS, DELETED, ERASED, ERASURES, EVENTS, LISTS, NAMES, NAMES_BY_NUMBER, OUTBOX, OUTBOX_ARCHIVE,
    mirrors_of, origin,
};
use crate::rows::values::{Text, Value};
use crate::rows::walk::go_on;
use crate::store::Store;
use crate::{events, inbox, items, notices};
use kv::{Scope, Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{
    ContentId, Cursor, Effect, EffectKind, ErasedPart, ErasedUser, Erasure, ErasurePlace, Event, Logged, MAX_ID,
    Millis, Order, Span, UserId,
};

/// Rows of the log of events that one search looks at.
const LOOK_AT: usize = 20_000;
/// Erasures that are forgotten at once.
const FORGOTTEN: usize = 100;

/// The tables with rows that name a user, in the order in which an erasure looks for them: those whose keys begin with the
/// user, those of relations to users that no other table has by the user, and the log. The rows of an archive are found with
/// those of the outbox, and the end removes those of which a user has one.
fn searched() -> impl Iterator<Item = AnyTable> {
    ALL.iter().copied().filter(|table| match table.keys {
        _ if *table == OUTBOX_ARCHIVE => false,
        [Part::USER, .., Part::Place(_)] | [Part::USER, Part::Id(_) | Part::Name(_)] => true,
        [Part::Id(_), Part::USER] => is_whole(table),
        _ => *table == EVENTS,
    })
}

/// Whether an erasure looks through all of a table: through the log, and a relation that no other table has by the user.
fn is_whole(table: AnyTable) -> bool {
    table == EVENTS
        || table.keys.first() != Some(&Part::USER) && table.follows.is_empty() && mirrors_of(table).is_empty()
}

/// Begins the erasure of a user, with the event and the effect, which has the hash as its name, in the same change; without
/// an event it is not told. False, and nothing written, if it is under way already. Acknowledges.
pub fn begin_erasure(store: &Store, erasure: &Erasure, event: Option<&Event>) -> Result<bool> {
    let user = erasure.user;
    if store.memory.erasing.has(user) {
        return Ok(false);
    }
    let mut change = WriteBatch::default();
    ERASURES.put(&mut change, user, erasure)?;
    let mut effects = Vec::new();
    if let Some(event) = event {
        events::tables::put(&mut change, event.clone())?;
        effects.push(Effect::on(EffectKind::UserErased, user).named(erasure.hash.as_str()));
    }
    store.acknowledge(Write::Erase, change, effects)?;
    Ok(true)
}

/// The erasures under way, by their users.
pub fn erasures(store: &Store) -> Result<Vec<Erasure>> {
    ERASURES.all(store.now(Tier::Disk))
}

/// Whether any erasure is under way. Reads memory only, like the next.
pub fn has_erasures(store: &Store) -> bool {
    store.memory.erasing.any()
}

/// Whether a user is being erased.
pub fn is_erasing(store: &Store, user: UserId) -> bool {
    store.memory.erasing.has(user)
}

/// The next rows that name a user who is erased, about `most`; none where none were found yet. `None` at the end, when only
/// those are left that [`end_erasure`] removes. Moves the place, which is the default one at first.
pub fn to_erase(store: &Store, user: UserId, place: &mut ErasurePlace, most: usize) -> Result<Option<ErasedPart>> {
    while let Some(table) = searched().nth(place.table) {
        let Found { of, keys, last } = rows_of(store, table, user, place.after.as_deref(), most)?;
        match last {
            Some(_) => place.after = last,
            None => *place = ErasurePlace { table: place.table + 1, after: None },
        }
        if !keys.is_empty() || place.after.is_some() {
            return Ok(Some(ErasedPart { table: of.name.to_owned(), keys }));
        }
    }
    Ok(None)
}

/// Of all paths that these items have, also purged ones, and of those that they were taken off, the sources that are not
/// the author.
pub fn erased_paths(store: &Store, ids: &[ContentId]) -> Result<Vec<UserId>> {
    let mut sources = Vec::new();
    for stored in items::tables::stored(store, ids, Tier::Disk)?.into_iter().flatten() {
        sources.extend(stored.content.to);
        sources.extend(items::tables::sources_taken_off(store, stored.content.id)?);
    }
    sources.extend(items::tables::purged_among(store, ids)?.into_iter().flat_map(|(.., purged)| purged.sources));
    sources.sort_unstable();
    sources.dedup();
    Ok(sources)
}

/// Removes all entries of an author from the inboxes of these readers, on whatever paths they came.
pub fn clear_inboxes(store: &Store, readers: &[UserId], author: UserId) -> Result<()> {
    readers.iter().try_for_each(|reader| inbox::tables::forget_author(store, *reader, author))
}

/// Ends the erasure of a user at a time: removes the records of the user and the name, and keeps the hash instead, also
/// in the effect of the begin; in one change. Forgets erasures that were over before `forgotten`. False, and nothing written,
/// if it is not under way. Acknowledges.
pub fn end_erasure(store: &Store, user: UserId, at: Millis, forgotten: Millis) -> Result<bool> {
    store.write_arrivals()?;
    let _user = store.memory.inboxes.change(user);
    let _activity = store.memory.loaded.change_activity(user);
    let Some(Erasure { hash, since, rows, .. }) = erasure(store, user)? else { return Ok(false) };
    let mut change = WriteBatch::default();
    let key = keys::id(user.get());
    for table in ALL.iter().filter(|table| table.keys == [Part::USER] && **table != ERASURES.spec) {
        match mirrors_of(table) {
            [] => change.delete(table, key),
            _ => {
                let row = store.get(table, &key, Tier::Disk)?.map(|row| row.to_vec());
                change_row(&mut change, table, key, [row, None], store)?;
            }
        }
    }
    for what in keys::Counter::ALL {
        COUNTS.delete(&mut change, (user, what));
    }
    change.delete(&OUTBOX, keys::head(user.get()));
    notices::tables::remove_notices_of(store, &mut change, user)?;
    for erased in self::erased(store)?.iter().filter(|erased| erased.over < forgotten).take(FORGOTTEN) {
        ERASED.delete(&mut change, erased.hash.as_str());
    }
    let erased = ErasedUser { hash, since, over: at, rows };
    ERASED.put(&mut change, erased.hash.as_str(), &erased)?;
    let name = name_to_erase(store, user)?;
    if let Some(name) = &name {
        NAMES.delete(&mut change, name.0.as_str());
        // Others may mention the number as that of an item. It is given to no other name.
        NAMES_BY_NUMBER.put(&mut change, user.get(), &Text(String::new()))?;
    }
    // The last row: what is kept of rows ends in their order, and the user counts as erasing until the name is forgotten.
    ERASURES.delete(&mut change, user);
    store.acknowledge(Write::Erase, change, Vec::new())?;
    // Before the locks are released: whoever waits for them must find no row of the user.
    store.write_group()?;
    Ok(true)
}

/// The erasures that are over, in any order.
pub fn erased(store: &Store) -> Result<Vec<ErasedUser>> {
    ERASED.all(store.now(Tier::Disk))
}

/// Rows to erase.
struct Found {
    of: AnyTable,
    keys: Vec<Vec<u8>>,
    /// The key of the last row that was looked at in the table that was searched, if more may follow.
    last: Option<Vec<u8>>,
}

/// The erasure of a user that is under way.
pub(crate) fn erasure(store: &Store, user: UserId) -> Result<Option<Erasure>> {
    ERASURES.get(store.now(Tier::Disk), user)
}

/// The next rows of a table behind a key that name a user: the rows themselves, or those from which they follow.
fn rows_of(store: &Store, table: AnyTable, user: UserId, after: Option<&[u8]>, most: usize) -> Result<Found> {
    let (mut of, mut keys, mut looked_at, mut last) = (table, Vec::new(), 0, None);
    // A list may have many members.
    let most = if table == LISTS { 1 } else { most };
    let mut look_at = |key: &[u8], value: &[u8]| {
        if names(table, key, value, user)? {
            let origin = origin(table, key, value)?;
            of = origin.0;
            keys.push(origin.1);
        }
        looked_at += 1;
        last = Some(key.to_vec());
        go_on(looked_at < LOOK_AT && keys.len() < most)
    };
    let behind = |last: &[u8]| [last, &[0]].concat();
    if table == OUTBOX {
        let before = after.and_then(keys::place).map(|(_, place)| place);
        let span = Span { before, after: None };
        Walks::new(&store.memory.outboxes.rows, store.now(Tier::Disk))?.rows(
            user.get(),
            span,
            Order::NewestFirst,
            &mut |place: Cursor, value| look_at(&keys::of((user, place)), value),
        )?;
    } else if is_whole(table) {
        store.now(Tier::Disk).each_row(table, &after.map(behind).unwrap_or_default(), &mut look_at)?;
    } else {
        let prefix = keys::id(user.get());
        let mut rows = store.now(Tier::Disk).rows(table, Scope::Partition)?;
        rows.seek(after.map_or_else(|| prefix.to_vec(), behind));
        while let Some((key, value)) = rows.item().filter(|(key, _)| key.starts_with(&prefix)) {
            if look_at(key, value)?.is_break() {
                break;
            }
            rows.next();
        }
        rows.status()?;
    }
    let is_over = looked_at < LOOK_AT && keys.len() < most;
    Ok(Found { of, keys, last: last.filter(|_| !is_over) })
}

/// Whether a row of a table in which an erasure looks names a user.
fn names(table: AnyTable, key: &[u8], value: &[u8], user: UserId) -> Result<bool> {
    if table == EVENTS {
        return Ok(Logged::read(key, value)?.names(user));
    }
    Ok(!is_whole(table) || keys::second(key) == Some(user))
}

/// The name of a user, unless an item has it, too.
fn name_to_erase(store: &Store, user: UserId) -> Result<Option<Text>> {
    let (now, item) = (store.now(Tier::Disk), ContentId::new(user.get()).ok());
    let is_item = |item| Ok::<_, Error>(CONTENT.has(now, item)? || DELETED.has(now, item)?);
    if user.get() <= MAX_ID || item.map_or(Ok(false), is_item)? {
        return Ok(None);
    }
    NAMES_BY_NUMBER.get(now, user.get())
}
