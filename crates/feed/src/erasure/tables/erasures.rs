//! Erasures of users: which are under way, and the rows that name their users.

use std::sync::Arc;

use crate::memory::archived::Walks;
use crate::notices::tables::put_notice_marker;
use crate::rows::tables::{
    ACTIVITY, BLOCKED_BY, BLOCKS, CONTENT, COUNTS, DELETED, ERASED, ERASURES, EVENTS, FOLLOW_REQUESTS, FOLLOWERS,
    FOLLOWING, HIDDEN, HIDDEN_TO, INBOXES, MARKERS, MEMBER_OF, MENTIONED_IN, MUTED_BY, MUTES, NAMES, NAMES_BY_NUMBER,
    NOTICE_MARKERS_AT, OUTBOX, REACTIONS_BY_USER, REQUESTS, SETTINGS, SUSPENDED, TAKEN_OFF, Table, UNLISTED, UNPUSHED,
    USER_COMMENTS,
};
use crate::rows::walk::{go_on, listed, seconds};
use crate::rows::{keys, values};
use crate::store::Store;
use crate::users::tables::set_profile;
use crate::{inbox, items, lists, notices, users};
use kv::{Scope, Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{
    ContentId, Cursor, Effect, EffectKind, ErasedPart, ErasedUser, Erasure, ErasurePlace, Event, MAX_ID, Millis, Order,
    Position, Span, Unpushed, UserId,
};

/// Rows of the log of events that one search looks at.
const LOOK_AT: usize = 20_000;
/// Erasures that are forgotten at once.
const FORGOTTEN: usize = 100;

/// How rows that name a user are found, and what they are a part of.
#[derive(Clone, Copy)]
enum Search {
    Outbox,
    /// Rows of the user by time.
    Rows(Table, MakePart),
    /// Pairs whose first is the user.
    Pairs(Table, MakePart),
    Reactions,
    Lists,
    /// All of the table, which moderators alone make longer.
    TakenOff,
    /// All of the log of events.
    Log,
}

/// Makes a part of ids.
type MakePart = fn(Vec<u64>) -> ErasedPart;

/// In an order in which no search finds what a later part adds: items that are erased become unlisted.
const SEARCHES: [Search; 20] = [
    Search::Outbox,
    Search::Rows(USER_COMMENTS, ErasedPart::Items),
    Search::Rows(UNLISTED, ErasedPart::Items),
    Search::Rows(MENTIONED_IN, ErasedPart::Items),
    Search::Pairs(FOLLOWERS, ErasedPart::Others),
    Search::Pairs(FOLLOWING, ErasedPart::Others),
    Search::Pairs(REQUESTS, ErasedPart::Others),
    Search::Rows(FOLLOW_REQUESTS, ErasedPart::Others),
    Search::Pairs(MUTES, ErasedPart::Others),
    Search::Pairs(MUTED_BY, ErasedPart::Others),
    Search::Pairs(HIDDEN, ErasedPart::Others),
    Search::Pairs(HIDDEN_TO, ErasedPart::Others),
    Search::Pairs(BLOCKS, ErasedPart::Others),
    Search::Pairs(BLOCKED_BY, ErasedPart::Others),
    Search::Pairs(NOTICE_MARKERS_AT, ErasedPart::Others),
    Search::Reactions,
    Search::Lists,
    Search::Pairs(MEMBER_OF, ErasedPart::Memberships),
    Search::TakenOff,
    Search::Log,
];

/// Begins the erasure of a user, with the event and the effect, which has the hash as its name, in the same change; without
/// an event it is not told. False, and nothing written, if it is under way already. Acknowledges.
pub fn begin_erasure(store: &Store, erasure: &Erasure, event: Option<&Event>) -> Result<bool> {
    let user = erasure.user;
    if store.memory.erasing.has(user) {
        return Ok(false);
    }
    let mut change = WriteBatch::default();
    change.put(ERASURES, keys::id(user.get()), values::erasures::erasure(erasure));
    let mut effects = Vec::new();
    if let Some(event) = event {
        change.put(EVENTS, keys::id(event.number), values::events::event(event));
        effects.push(Effect::on(EffectKind::UserErased, user).named(erasure.hash.as_str()));
    }
    // Before the row is visible: who asks after the change finds the user here.
    store.memory.erasing.set(user, true);
    let erasing = Arc::clone(&store.memory.erasing);
    let after = move |is_written: bool| {
        if !is_written {
            erasing.set(user, false)
        }
    };
    store.acknowledge(Write::Erase, change, effects, after)?;
    Ok(true)
}

/// The erasures under way, by their users.
pub fn erasures(store: &Store) -> Result<Vec<Erasure>> {
    store.now(Tier::Disk).beginning((ERASURES, Scope::Table), &[], &[], usize::MAX, |key, value| {
        let user = keys::number(key).and_then(|raw| UserId::new(raw).ok());
        values::erasures::read_erasure(user.ok_or_else(|| Error::Corrupt("a key in erasures".to_owned()))?, value)
    })
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
    while let Some(search) = SEARCHES.get(place.table) {
        let (part, last) = rows_of(store, *search, user, place.after, most)?;
        match last {
            Some(last) => place.after = Some(last),
            None => *place = ErasurePlace { table: place.table + 1, after: None },
        }
        if part.is_some() || last.is_some() {
            return Ok(Some(part.unwrap_or_else(|| ErasedPart::Changes(Vec::new()))));
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
    let own = [SETTINGS, MARKERS, SUSPENDED, ACTIVITY, UNPUSHED, INBOXES, ERASURES];
    for table in own {
        change.delete(table, keys::id(user.get()));
    }
    let profile = users::tables::profiles(store, &[user], Tier::Disk)?.pop().flatten();
    set_profile(&mut change, user, [profile.as_ref(), None])?;
    for what in keys::Counter::ALL {
        change.delete(COUNTS, keys::count(user, what));
    }
    change.delete(OUTBOX, keys::head(user.get()));
    notices::tables::remove_notices_of(store, &mut change, user)?;
    put_notice_marker(&mut change, user, [notices::tables::notice_marker(store, user, Tier::Disk)?, None])?;
    for erased in self::erased(store)?.iter().filter(|erased| erased.over < forgotten).take(FORGOTTEN) {
        change.delete(ERASED, erased.hash.as_bytes());
    }
    let erased = ErasedUser { hash, since, over: at, rows };
    change.put(ERASED, erased.hash.as_bytes(), values::erasures::erased(&erased));
    let name = name_to_erase(store, user)?;
    if let Some(name) = &name {
        change.delete(NAMES, name.as_bytes());
        // Others may mention the number as that of an item. It is given to no other name.
        change.put(NAMES_BY_NUMBER, keys::id(user.get()), []);
    }
    let changes = (store.memory.inboxes.activities.change(user), store.memory.inboxes.rows.change(user));
    let (names, erasing, loaded) =
        (Arc::clone(&store.memory.names), Arc::clone(&store.memory.erasing), Arc::clone(&store.memory.loaded));
    store.acknowledge(Write::Erase, change, Vec::new(), move |is_written| {
        if is_written {
            name.iter().for_each(|name| names.forget(name, user.get()));
            loaded.unpushed.rows.set(user, Unpushed::default());
            loaded.partial_push_recipients.remove(user);
            erasing.set(user, false);
        }
        drop(changes);
    })?;
    // Before the locks are released: whoever waits for them must find no row of the user.
    store.write_group()?;
    Ok(true)
}

/// The erasures that are over, in any order.
pub fn erased(store: &Store) -> Result<Vec<ErasedUser>> {
    store.now(Tier::Disk).beginning((ERASED, Scope::Table), &[], &[], usize::MAX, |key, value| {
        let hash = std::str::from_utf8(key).map_err(|_| Error::Corrupt("a key in erased".to_owned()))?.to_owned();
        let [since, over, rows] = values::erasures::read_erased(value)?;
        Ok(ErasedUser { hash, since, over, rows })
    })
}

/// A part, if there is any, and the place of the last row that was looked at, if more may follow.
type Found = (Option<ErasedPart>, Option<(u64, u64)>);

/// The erasure of a user that is under way.
pub(crate) fn erasure(store: &Store, user: UserId) -> Result<Option<Erasure>> {
    let read = |row: &[u8]| values::erasures::read_erasure(user, row);
    store.read(ERASURES, &keys::id(user.get()), Tier::Disk, read)
}

/// The next rows behind a place that name a user.
fn rows_of(store: &Store, search: Search, user: UserId, after: Option<(u64, u64)>, most: usize) -> Result<Found> {
    let before = after.map(|(at, id)| Position { at, id });
    let span = Span { before, after: None };
    let (mut found, make): (Vec<(u64, u64)>, MakePart) = match search {
        Search::Outbox => {
            let mut found = Vec::new();
            let before = before.and_then(|place| keys::cursor(place.at, place.id));
            let span = Span { before, after: None };
            Walks::new(&store.memory.outboxes.rows, store.now(Tier::Disk))?.rows(
                user.get(),
                span,
                Order::NewestFirst,
                &mut |place: Cursor, _| {
                    found.push((place.at, place.id.get()));
                    go_on(found.len() < most)
                },
            )?;
            (found, ErasedPart::Items)
        }
        Search::Rows(table, make) => {
            let place = |place: Position<u64>, _: &[u8]| Ok((place.at, place.id));
            (listed(store.now(Tier::Disk), (table, user.get()), span.newest(most), place)?, make)
        }
        Search::Pairs(table, make) => {
            let second = after.and_then(|(_, id)| UserId::new(id).ok());
            let seconds = seconds(store.now(Tier::Disk), table, user, second, most)?;
            (seconds.into_iter().map(|second| (0, second.get())).collect(), make)
        }
        Search::TakenOff => {
            return search_all(store, TAKEN_OFF, after, most, ErasedPart::TakenOff, |key, _| {
                let (item, source) = keys::split_pair(key)?;
                Some(((item, source), (source == user.get()).then_some(item)))
            });
        }
        Search::Log => {
            return search_all(store, EVENTS, after, most, ErasedPart::Changes, |key, value| {
                let number = keys::split_id(key)?;
                let names = values::events::read_logged(number, value).ok()?.names(user);
                Some(((number, 0), names.then_some(number)))
            });
        }
        Search::Reactions => {
            // Kind by kind from the newest on: what is found is removed before the next search.
            let bytes: Vec<_> = store.memory.kinds.reactions.known().bytes().collect();
            let mut reactions = Vec::new();
            for byte in bytes {
                let scan = Span::<ContentId>::ALL.newest(most - reactions.len());
                let of_kind = (REACTIONS_BY_USER, (user.get(), byte));
                let row = |place: Cursor, _: &[u8]| Ok((byte, place.at, place.id.get()));
                reactions.extend(listed(store.now(Tier::Disk), of_kind, scan, row)?);
            }
            let last = (reactions.len() == most).then_some((0, 0));
            return Ok(((!reactions.is_empty()).then_some(ErasedPart::Reactions(reactions)), last));
        }
        Search::Lists => {
            let name = lists::tables::lists(store, user, Tier::Disk)?.into_iter().next().map(|list| list.name);
            let last = name.is_some().then_some((0, 0));
            return Ok((name.map(|name| ErasedPart::Lists(vec![name])), last));
        }
    };
    let last = found.last().copied().filter(|_| found.len() == most);
    // A marker may be at what the user did; the end removes it.
    let is_of_users = matches!(search, Search::Pairs(table, _) if table == NOTICE_MARKERS_AT);
    found.retain(|(_, id)| *id != user.get() || !is_of_users);
    let ids: Vec<_> = found.into_iter().map(|(_, id)| id).collect();
    Ok(((!ids.is_empty()).then(|| make(ids)), last))
}

/// The next rows of a table of all users that name a user. `read` has the place of a row, and the id if it does.
fn search_all(
    store: &Store,
    table: Table,
    after: Option<(u64, u64)>,
    most: usize,
    make: MakePart,
    read: impl Fn(&[u8], &[u8]) -> Option<((u64, u64), Option<u64>)>,
) -> Result<Found> {
    let (mut found, mut looked_at, mut last) = (Vec::new(), 0, None);
    let from = after.map(|(first, second)| keys::pair(first, second.saturating_add(1)).to_vec()).unwrap_or_default();
    store.now(Tier::Disk).each_row(table, &from, |key, value| {
        let (place, id) = read(key, value).ok_or_else(|| Error::Corrupt(format!("a row of {table}")))?;
        found.extend(id);
        looked_at += 1;
        last = Some(place);
        go_on(looked_at < LOOK_AT && found.len() < most)
    })?;
    let is_over = looked_at < LOOK_AT && found.len() < most;
    Ok(((!found.is_empty()).then(|| make(found)), last.filter(|_| !is_over)))
}

/// The name of a user, unless an item has it, too.
fn name_to_erase(store: &Store, user: UserId) -> Result<Option<String>> {
    let key = keys::id(user.get());
    if user.get() <= MAX_ID
        || store.get(CONTENT, &key, Tier::Disk)?.is_some()
        || store.get(DELETED, &key, Tier::Disk)?.is_some()
    {
        return Ok(None);
    }
    let text = |row: &[u8]| String::from_utf8(row.to_vec()).map_err(|_| Error::Corrupt("a name".to_owned()));
    store.read(NAMES_BY_NUMBER, &key, Tier::Disk, text)
}
