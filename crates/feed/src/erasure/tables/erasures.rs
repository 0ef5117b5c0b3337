//! Erasures of users: which are under way, and the rows that name their users.

use crate::memory::archived::Walks;
use crate::notices::tables::put_notice_marker;
use crate::rows::key_types::{Keys, NameNumber};
use crate::rows::keys;
use crate::rows::table::AnyTable;
use crate::rows::tables::{
    ALL, CONTENT, COUNTS, DELETED, ERASED, ERASURES, EVENTS, FOLLOW_REQUESTS, NAMES, NAMES_BY_NUMBER,
    NOTICE_MARKERS_AT, OUTBOX, OUTBOX_ARCHIVE, REACTIONS_BY_USER, TAKEN_OFF,
};
use crate::rows::values::{Text, Value};
use crate::rows::walk::{go_on, listed, seconds};
use crate::store::Store;
use crate::users::tables::set_profile;
use crate::{events, inbox, items, lists, notices, users};
use kv::{Scope, Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{
    ContentId, Cursor, Effect, EffectKind, ErasedPart, ErasedUser, Erasure, ErasurePlace, Event, Logged, MAX_ID,
    Millis, Order, Position, Span, UserId,
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
    Rows(AnyTable, MakePart),
    /// Pairs whose first is the user.
    Pairs(AnyTable, MakePart),
    Reactions,
    Lists,
    /// All of the table, which moderators alone make longer.
    TakenOff,
    /// All of the log of events.
    Log,
}

/// Makes a part of ids.
type MakePart = fn(Vec<u64>) -> ErasedPart;

impl Search {
    /// That of the rows of a table; `None` for a table without rows that name a user, or whose rows go with those of another.
    fn of(table: AnyTable) -> Option<Self> {
        Some(match table.keys {
            _ if table == OUTBOX => Self::Outbox,
            _ if table == OUTBOX_ARCHIVE => return None,
            _ if table == EVENTS => Self::Log,
            Keys::Row("user", "content") => Self::Rows(table, ErasedPart::Items),
            // The others by time are found by their pairs.
            Keys::Row(..) if table == FOLLOW_REQUESTS => Self::Rows(table, ErasedPart::Others),
            Keys::Pair("user", "user") => Self::Pairs(table, ErasedPart::Others),
            Keys::Pair("user", "list") => Self::Pairs(table, ErasedPart::Memberships),
            Keys::Pair("content", "user") => Self::TakenOff,
            Keys::KindRow("user", _) => Self::Reactions,
            Keys::OfUser(_) => Self::Lists,
            _ => return None,
        })
    }

    /// All of them, in an order in which none finds what a later part adds: items that are erased become unlisted.
    fn all() -> impl Iterator<Item = Self> {
        ALL.iter().filter_map(|table| Self::of(table))
    }
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
    store.now(Tier::Disk).beginning((&ERASURES, Scope::Table), &[], &[], usize::MAX, Erasure::read)
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
    while let Some(search) = Search::all().nth(place.table) {
        let (part, last) = rows_of(store, search, user, place.after, most)?;
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
    let profile = users::tables::profiles(store, &[user], Tier::Disk)?.pop().flatten();
    set_profile(&mut change, user, [profile.as_ref(), None])?;
    put_notice_marker(&mut change, user, [notices::tables::notice_marker(store, user, Tier::Disk)?, None])?;
    for table in ALL.iter().filter(|table| table.keys == Keys::One("user")) {
        change.delete(table, keys::id(user.get()));
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
        NAMES_BY_NUMBER.put(&mut change, NameNumber(user.get()), &Text(String::new()))?;
    }
    store.acknowledge(Write::Erase, change, Vec::new())?;
    // Before the locks are released: whoever waits for them must find no row of the user.
    store.write_group()?;
    Ok(true)
}

/// The erasures that are over, in any order.
pub fn erased(store: &Store) -> Result<Vec<ErasedUser>> {
    store.now(Tier::Disk).beginning((&ERASED, Scope::Table), &[], &[], usize::MAX, ErasedUser::read)
}

/// A part, if there is any, and the place of the last row that was looked at, if more may follow.
type Found = (Option<ErasedPart>, Option<(u64, u64)>);

/// The erasure of a user that is under way.
pub(crate) fn erasure(store: &Store, user: UserId) -> Result<Option<Erasure>> {
    ERASURES.get(store.now(Tier::Disk), user)
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
            return search_all(store, &TAKEN_OFF, after, most, ErasedPart::TakenOff, |key, _| {
                let (item, source) = keys::split_pair(key)?;
                Some(((item, source), (source == user.get()).then_some(item)))
            });
        }
        Search::Log => {
            return search_all(store, &EVENTS, after, most, ErasedPart::Changes, |key, value| {
                let number = keys::split_id(key)?;
                let names = Logged::read(key, value).ok()?.names(user);
                Some(((number, 0), names.then_some(number)))
            });
        }
        Search::Reactions => {
            // Kind by kind from the newest on: what is found is removed before the next search.
            let bytes: Vec<_> = store.memory.kinds.reactions.known().bytes().collect();
            let mut reactions = Vec::new();
            for byte in bytes {
                let scan = Span::<ContentId>::ALL.newest(most - reactions.len());
                let places = REACTIONS_BY_USER.places(store.now(Tier::Disk), (user, byte), scan)?;
                reactions.extend(places.into_iter().map(|place| (byte, place.at, place.id.get())));
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
    table: AnyTable,
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
fn name_to_erase(store: &Store, user: UserId) -> Result<Option<Text>> {
    let (now, item) = (store.now(Tier::Disk), ContentId::new(user.get()).ok());
    let is_item = |item| Ok::<_, Error>(CONTENT.has(now, item)? || DELETED.has(now, item)?);
    if user.get() <= MAX_ID || item.map_or(Ok(false), is_item)? {
        return Ok(None);
    }
    NAMES_BY_NUMBER.get(now, NameNumber(user.get()))
}
