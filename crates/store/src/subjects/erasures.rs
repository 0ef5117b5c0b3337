//! Erasures of users: which are under way, and the rows that name their users.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;

use super::archive::Walks;
use super::notices::put_notice_marker;
use super::records::put_profile;
use crate::Store;
use crate::access::walk::go_on;
use crate::kv::Scope;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::{
    ACTIVITY, BLOCKED_BY, BLOCKS, CONTENT, COUNTS, DELETED, ERASED, ERASURES, EVENTS, FOLLOW_REQUESTS, FOLLOWERS,
    FOLLOWING, HIDDEN, HIDDEN_TO, INBOXES, MARKERS, MEMBER_OF, MENTIONED_IN, MUTED_BY, MUTES, NAMES, NAMES_BY_NUMBER,
    NOTICE_MARKERS_AT, OUTBOX, REACTIONS_BY_USER, REQUESTS, SETTINGS, SUSPENDED, TAKEN_OFF, Table, UNLISTED, UNPUSHED,
    USER_COMMENTS,
};
use crate::rows::{keys, values};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::Tier;
use model::{
    ContentId, Cursor, Effect, EffectKind, ErasedPart, ErasedUser, Erasure, ErasurePlace, Event, MAX_ID, Millis, Order,
    Position, Span, Unpushed, UserId,
};

/// Rows of the log of events that one search looks at.
const LOOK_AT: usize = 20_000;
/// Erasures that are forgotten at once.
const FORGOTTEN: usize = 100;

/// The users who are being erased.
#[derive(Default)]
pub(crate) struct Erasing {
    users: RwLock<HashSet<UserId>>,
    any: AtomicBool,
}

impl Erasing {
    fn set(&self, user: UserId, is_erasing: bool) {
        let mut users = self.users.write();
        if is_erasing {
            users.insert(user)
        } else {
            users.remove(&user)
        };
        self.any.store(!users.is_empty(), Ordering::SeqCst);
    }

    pub(crate) fn any(&self) -> bool {
        self.any.load(Ordering::SeqCst)
    }

    pub(crate) fn has(&self, user: UserId) -> bool {
        self.any() && self.users.read().contains(&user)
    }
}

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

impl Store {
    /// Begins the erasure of a user, with the event and the effect, which has the hash as its name, in the same change; without
    /// an event it is not told. False, and nothing written, if it is under way already. Acknowledges.
    pub fn begin_erasure(&self, erasure: &Erasure, event: Option<&Event>) -> Result<bool> {
        let user = erasure.user;
        if self.erasing.has(user) {
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
        self.erasing.set(user, true);
        let erasing = Arc::clone(&self.erasing);
        let after = move |is_written: bool| {
            if !is_written {
                erasing.set(user, false)
            }
        };
        self.acknowledge(Write::Erase, change, effects, after)?;
        Ok(true)
    }

    /// The erasures under way, by their users.
    pub fn erasures(&self) -> Result<Vec<Erasure>> {
        self.now(Tier::Disk).beginning((ERASURES, Scope::Table), &[], &[], usize::MAX, |key, value| {
            let user = keys::number(key).and_then(|raw| UserId::new(raw).ok());
            values::erasures::read_erasure(user.ok_or_else(|| Error::Corrupt("a key in erasures".to_owned()))?, value)
        })
    }

    /// Whether any erasure is under way. Reads memory only, like the next.
    pub fn has_erasures(&self) -> bool {
        self.erasing.any()
    }

    /// Whether a user is being erased.
    pub fn is_erasing(&self, user: UserId) -> bool {
        self.erasing.has(user)
    }

    /// The next rows that name a user who is erased, about `most`; none where none were found yet. `None` at the end, when only
    /// those are left that [`Store::end_erasure`] removes. Moves the place, which is the default one at first.
    pub fn to_erase(&self, user: UserId, place: &mut ErasurePlace, most: usize) -> Result<Option<ErasedPart>> {
        while let Some(search) = SEARCHES.get(place.table) {
            let (part, last) = self.rows_of(*search, user, place.after, most)?;
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
    pub fn erased_paths(&self, ids: &[ContentId]) -> Result<Vec<UserId>> {
        let mut sources = Vec::new();
        for stored in self.stored(ids, Tier::Disk)?.into_iter().flatten() {
            sources.extend(stored.content.to);
            sources.extend(self.sources_taken_off(stored.content.id)?);
        }
        sources.extend(self.purged_among(ids)?.into_iter().flat_map(|(.., purged)| purged.sources));
        sources.sort_unstable();
        sources.dedup();
        Ok(sources)
    }

    /// Removes all entries of an author from the inboxes of these readers, on whatever paths they came.
    pub fn clear_inboxes(&self, readers: &[UserId], author: UserId) -> Result<()> {
        readers.iter().try_for_each(|reader| self.forget_author(*reader, author))
    }

    /// Ends the erasure of a user at a time: removes the records of the user and the name, and keeps the hash instead, also
    /// in the effect of the begin; in one change. Forgets erasures that were over before `forgotten`. False, and nothing written, if it is not under way.
    /// Acknowledges.
    pub fn end_erasure(&self, user: UserId, at: Millis, forgotten: Millis) -> Result<bool> {
        self.write_arrivals()?;
        let _user = self.user_locks.of(user.get()).lock();
        let _activity = self.loaded.activity_locks.of(user.get()).lock();
        let Some(Erasure { hash, since, rows, .. }) = self.erasure(user)? else { return Ok(false) };
        let mut change = WriteBatch::default();
        let own = [SETTINGS, MARKERS, SUSPENDED, ACTIVITY, UNPUSHED, INBOXES, ERASURES];
        for table in own {
            change.delete(table, keys::id(user.get()));
        }
        let profile = self.profiles(&[user], Tier::Disk)?.pop().flatten();
        put_profile(&mut change, user, [profile.as_ref(), None])?;
        for what in keys::Counter::ALL {
            change.delete(COUNTS, keys::count(user, what));
        }
        change.delete(OUTBOX, keys::head(user.get()));
        self.remove_notices_of(&mut change, user)?;
        put_notice_marker(&mut change, user, [self.notice_marker(user, Tier::Disk)?, None])?;
        for erased in self.erased()?.iter().filter(|erased| erased.over < forgotten).take(FORGOTTEN) {
            change.delete(ERASED, erased.hash.as_bytes());
        }
        let erased = ErasedUser { hash, since, over: at, rows };
        change.put(ERASED, erased.hash.as_bytes(), values::erasures::erased(&erased));
        let name = self.name_to_erase(user)?;
        if let Some(name) = &name {
            change.delete(NAMES, name.as_bytes());
            // Others may mention the number as that of an item. It is given to no other name.
            change.put(NAMES_BY_NUMBER, keys::id(user.get()), []);
        }
        let changes = (self.activities.change(user), self.inbox_rows.change(user));
        let (names, erasing, loaded) = (Arc::clone(&self.names), Arc::clone(&self.erasing), Arc::clone(&self.loaded));
        self.acknowledge(Write::Erase, change, Vec::new(), move |is_written| {
            if is_written {
                name.iter().for_each(|name| names.forget(name, user.get()));
                loaded.unpushed.rows.set(user, Unpushed::default());
                loaded.partial_push_recipients.remove(user);
                erasing.set(user, false);
            }
            drop(changes);
        })?;
        // Before the locks are released: whoever waits for them must find no row of the user.
        self.write_group()?;
        Ok(true)
    }

    /// The erasures that are over, in any order.
    pub fn erased(&self) -> Result<Vec<ErasedUser>> {
        self.now(Tier::Disk).beginning((ERASED, Scope::Table), &[], &[], usize::MAX, |key, value| {
            let hash = std::str::from_utf8(key).map_err(|_| Error::Corrupt("a key in erased".to_owned()))?.to_owned();
            let [since, over, rows] = values::erasures::read_erased(value)?;
            Ok(ErasedUser { hash, since, over, rows })
        })
    }
}

/// A part, if there is any, and the place of the last row that was looked at, if more may follow.
type Found = (Option<ErasedPart>, Option<(u64, u64)>);

impl Store {
    /// The erasure of a user that is under way.
    pub(super) fn erasure(&self, user: UserId) -> Result<Option<Erasure>> {
        let read = |row: &[u8]| values::erasures::read_erasure(user, row);
        self.read(ERASURES, &keys::id(user.get()), Tier::Disk, read)
    }

    /// Reads at start who is being erased.
    pub(crate) fn load_erasures(&self) -> Result<()> {
        self.erasures()?.iter().for_each(|erasure| self.erasing.set(erasure.user, true));
        Ok(())
    }

    /// The next rows behind a place that name a user.
    fn rows_of(&self, search: Search, user: UserId, after: Option<(u64, u64)>, most: usize) -> Result<Found> {
        let before = after.map(|(at, id)| Position { at, id });
        let span = Span { before, after: None };
        let (mut found, make): (Vec<(u64, u64)>, MakePart) = match search {
            Search::Outbox => {
                let mut found = Vec::new();
                let before = before.and_then(|place| keys::cursor(place.at, place.id));
                let span = Span { before, after: None };
                Walks::new(&self.outboxes, self.now(Tier::Disk))?.rows(
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
                (self.listed((table, user.get()), span.newest(most), Tier::Disk, place)?, make)
            }
            Search::Pairs(table, make) => {
                let second = after.and_then(|(_, id)| UserId::new(id).ok());
                let seconds = self.now(Tier::Disk).seconds(table, user, second, most)?;
                (seconds.into_iter().map(|second| (0, second.get())).collect(), make)
            }
            Search::TakenOff => {
                return self.search_all(TAKEN_OFF, after, most, ErasedPart::TakenOff, |key, _| {
                    let (item, source) = keys::split_pair(key)?;
                    Some(((item, source), (source == user.get()).then_some(item)))
                });
            }
            Search::Log => {
                return self.search_all(EVENTS, after, most, ErasedPart::Changes, |key, value| {
                    let number = keys::split_id(key)?;
                    let names = values::events::read_logged(number, value).ok()?.names(user);
                    Some(((number, 0), names.then_some(number)))
                });
            }
            Search::Reactions => {
                // Kind by kind from the newest on: what is found is removed before the next search.
                let bytes: Vec<_> = self.kinds.known().bytes().collect();
                let mut reactions = Vec::new();
                for byte in bytes {
                    let scan = Span::<ContentId>::ALL.newest(most - reactions.len());
                    let of_kind = (REACTIONS_BY_USER, (user.get(), byte));
                    let row = |place: Cursor, _: &[u8]| Ok((byte, place.at, place.id.get()));
                    reactions.extend(self.listed(of_kind, scan, Tier::Disk, row)?);
                }
                let last = (reactions.len() == most).then_some((0, 0));
                return Ok(((!reactions.is_empty()).then_some(ErasedPart::Reactions(reactions)), last));
            }
            Search::Lists => {
                let name = self.lists(user, Tier::Disk)?.into_iter().next().map(|list| list.name);
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
        &self,
        table: Table,
        after: Option<(u64, u64)>,
        most: usize,
        make: MakePart,
        read: impl Fn(&[u8], &[u8]) -> Option<((u64, u64), Option<u64>)>,
    ) -> Result<Found> {
        let (mut found, mut looked_at, mut last) = (Vec::new(), 0, None);
        let from =
            after.map(|(first, second)| keys::pair(first, second.saturating_add(1)).to_vec()).unwrap_or_default();
        self.each_row(table, &from, |key, value| {
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
    fn name_to_erase(&self, user: UserId) -> Result<Option<String>> {
        let key = keys::id(user.get());
        if user.get() <= MAX_ID
            || self.get(CONTENT, &key, Tier::Disk)?.is_some()
            || self.get(DELETED, &key, Tier::Disk)?.is_some()
        {
            return Ok(None);
        }
        let text = |row: &[u8]| String::from_utf8(row.to_vec()).map_err(|_| Error::Corrupt("a name".to_owned()));
        self.read(NAMES_BY_NUMBER, &key, Tier::Disk, text)
    }
}
