//! Rules between the rows of tables beside the rows that follow from others.

use std::collections::{BTreeMap, BTreeSet};

use super::window::Window;
use super::{Audit, Row};
use crate::memory::kinds::Sort;
use crate::rows::keys;
use crate::rows::mirrors::Facts;
use crate::rows::table::AnyTable;
use crate::rows::tables::{
    BLOCKS, CONTENT, DELETED, EVENTS, FOLLOWING, KINDS, LIST_MARKERS, LIST_MEMBERS, LISTS, NOTICES, REACTIONS,
    REQUESTS, TOPIC_IDS,
};
use crate::rows::values::{self, Number, NumberedList, Stored, Value};
use kv::{Steps, Tier};
use model::error::Result;
use model::{BUILT_IN_KINDS, Content, Logged, Millis, Notice, NoticeCursor, NoticeKind, UserId};

/// The facts of earlier rows that the rules need.
#[derive(Debug, Default)]
pub(super) struct Seen {
    kinds: BTreeSet<(u8, Box<[u8]>)>,
    /// The highest times of the log of events.
    logged: Millis,
    top: Millis,
}

impl Audit<'_> {
    /// Checks rows of a table, and marks those that cannot be read.
    pub(super) fn rules(&mut self, table: AnyTable, rows: &[Row], bad: &mut [bool], seen: &mut Seen) -> Result<()> {
        self.have_items(table, rows)?;
        for (row, is_bad) in rows.iter().zip(bad) {
            let reads = match table {
                _ if table == CONTENT => self.item(row)?,
                _ if table == REACTIONS => self.reaction(row)?,
                _ if table == NOTICES => self.notice(row)?,
                _ if table == BLOCKS => self.block(row)?,
                _ if table == EVENTS => self.event(row, seen),
                _ if table == KINDS => is_kind(row, seen),
                _ => return Ok(()),
            };
            *is_bad |= reads.is_none();
        }
        Ok(())
    }

    /// An item's kind has the number that it says, and each of its topics has an id.
    fn item(&mut self, row: &Row) -> Result<Option<()>> {
        let Some(stored) = row.fact().item() else { return Ok(None) };
        let content = &stored.content;
        if self.store.memory.kinds.content.known().number(&content.kind) != Some(content.kind_id.0) {
            self.findings.has(&CONTENT, &row.key, ", whose kind does not agree with kinds");
        }
        for name in content.topics.iter().filter(|_| stored.deleted_at.is_none()).collect::<BTreeSet<_>>() {
            if self.store.topic_id(name)?.is_none() {
                let id = self.findings.id(content.id.get());
                self.findings.find(format!("content {id}: topic_ids lacks its topic {name:?}"));
            }
        }
        Ok(Some(()))
    }

    /// Rows that go with an item have one, but for counts. Those that follow from others are compared with them.
    fn have_items(&mut self, table: AnyTable, rows: &[Row]) -> Result<()> {
        let is_relation = table.follows.is_empty() && matches!(table.steps, Steps::None) && table != CONTENT;
        if !table.ends_with_item || !is_relation {
            return Ok(());
        }
        let of_items = rows.iter().filter_map(|row| Some((row, keys::item(table.keys, &row.key)?)));
        let (rows, items): (Vec<_>, Vec<_>) = of_items.unzip();
        let found = self.store.get_many(&CONTENT, items.into_iter().map(keys::id), Tier::Disk)?;
        for (row, _) in rows.into_iter().zip(found).filter(|(_, item)| item.is_none()) {
            self.findings.has(table, &row.key, ", but the item does not exist");
        }
        Ok(())
    }

    /// The kind of a reaction has a name.
    fn reaction(&mut self, row: &Row) -> Result<Option<()>> {
        let Some((_, kind, _)) = keys::read::<(u64, u8, u64)>(&row.key) else { return Ok(None) };
        if self.store.memory.kinds.reactions.known().name(kind).is_none() {
            self.findings.has(&REACTIONS, &row.key, ", but the kind has no name");
        }
        Ok(Some(()))
    }

    /// No block stands between users of whom one follows the other, or has asked to.
    fn block(&mut self, row: &Row) -> Result<Option<()>> {
        let Some((user, target)) = keys::read::<(UserId, UserId)>(&row.key) else { return Ok(None) };
        for ended in [FOLLOWING.spec, REQUESTS.spec] {
            let both = [keys::of((user, target)), keys::of((target, user))];
            if self.store.get_many(ended, both, Tier::Disk)?.iter().any(Option::is_some) {
                self.findings.disagrees(&BLOCKS, &row.key, ended);
            }
        }
        Ok(Some(()))
    }

    /// The times of the log of events do not fall with rising numbers: searches by time rely on that.
    fn event(&mut self, row: &Row, Seen { logged, top, .. }: &mut Seen) -> Option<()> {
        let times = Logged::read(&row.key, &row.value).ok()?.times();
        if times.0 < *logged || times.1 < *top || times.1 < times.0 {
            self.findings.has(&EVENTS, &row.key, " with an earlier time than the row before it");
        }
        (*logged, *top) = ((*logged).max(times.0), (*top).max(times.1));
        Some(())
    }

    /// A notice has its cause. A cause may lack its notice, because notices end with their time.
    fn notice(&mut self, row: &Row) -> Result<Option<()>> {
        let read = keys::read(&row.key).zip(Notice::read(&row.key, &row.value).ok());
        let Some(((owner, NoticeCursor { at, id }), notice)) = read else { return Ok(None) };
        if owner == id.actor || id.kind.has_item() != id.item.is_some() {
            return Ok(None);
        }
        let (table, key) = match (id.kind, id.item) {
            (NoticeKind::Follow, _) => (FOLLOWING.spec, keys::of((id.actor, owner))),
            (NoticeKind::FollowRequest, _) => (REQUESTS.spec, keys::of((id.actor, owner))),
            (NoticeKind::RequestApproved, _) => (FOLLOWING.spec, keys::of((owner, id.actor))),
            (NoticeKind::Reaction, Some(item)) => (REACTIONS.spec, keys::of((item, id.reaction, id.actor))),
            (_, Some(item)) => (CONTENT.spec, keys::of(item)),
            (_, None) => return Ok(None),
        };
        let cause = self.store.get(table, &key, Tier::Disk)?;
        let is_caused = match (notice.published(), &cause) {
            // Whether the item is purged.
            (Some(_), None) if self.store.get(&DELETED, &key, Tier::Disk)?.is_some() => true,
            (Some(_), None) => {
                self.findings.has(&NOTICES, &row.key, ", but the item does not exist");
                true
            }
            (Some(_), Some(cause)) => {
                Stored::read(&key, cause).is_ok_and(|stored| is_of(&notice, owner, &stored.content))
            }
            (None, cause) => cause.as_ref().and_then(|row| values::read_millis(row).ok()) == Some(at),
        };
        if !is_caused {
            self.findings.disagrees(&NOTICES, &row.key, table);
        }
        Ok(Some(()))
    }

    /// No id belongs to two topics, and none is above the highest. Looks at the ids in windows of so many.
    pub(super) fn ids_of_topics(&mut self, most: usize) -> Result<()> {
        let highest =
            TOPIC_IDS.readable(self.store.now(Tier::Disk), keys::HIGHEST_TOPIC)?.map_or(0, |Number(highest)| highest);
        let mut from = Some(0);
        while let Some(start) = from {
            let mut window = Window::<u64>::new(start, most);
            self.each_batch(&TOPIC_IDS, |audit, rows| {
                for Row { key, value } in rows.iter().filter(|row| *row.key != *keys::HIGHEST_TOPIC.as_bytes()) {
                    let Ok(Number(id)) = Number::read(key, value) else { continue };
                    let Some(names) = window.at(id) else { continue };
                    *names += 1;
                    if *names > 1 {
                        audit.findings.has(&TOPIC_IDS, key, &format!(" with id {id} of another topic"));
                    }
                    if id > highest {
                        audit.findings.has(&TOPIC_IDS, key, &format!(" with id {id}, above the highest id"));
                    }
                }
                Ok(())
            })?;
            from = window.end();
        }
        Ok(())
    }

    /// Each member and each marker of a list belongs to a list that there is. Looks at the lists in windows of so many.
    pub(super) fn parts_of_lists(&mut self, most: usize) -> Result<()> {
        let mut from = Some(0);
        while let Some(start) = from {
            let mut window = Window::<()>::new(start, most);
            self.each_batch(&LISTS, |_, rows| {
                let lists = rows.iter().filter_map(|row| NumberedList::read(&row.key, &row.value).ok());
                lists.for_each(|(id, _)| _ = window.at(id.get()));
                Ok(())
            })?;
            from = window.end();
            let known = window.into_known();
            for table in [LIST_MEMBERS.spec, LIST_MARKERS.spec] {
                self.have_lists(table, start, from, &known)?;
            }
        }
        Ok(())
    }

    /// The rows of a table of lists from one list to another belong to known lists.
    fn have_lists(&mut self, table: AnyTable, start: u64, end: Option<u64>, known: &BTreeMap<u64, ()>) -> Result<()> {
        let mut rows = self.whole(table)?;
        rows.seek(keys::id(start));
        while let Some(key) = rows.key() {
            match keys::number(key) {
                Some(list) if end.is_some_and(|end| list >= end) => break,
                Some(list) if !known.contains_key(&list) => {
                    self.findings.has(table, key, ", but there is no list of this number");
                }
                // Keys that cannot be read are reported with the table.
                _ => {}
            }
            rows.next();
        }
        rows.status()
    }
}

/// Whether a kind has a name, which no other one of its sort has.
fn is_kind(row: &Row, seen: &mut Seen) -> Option<()> {
    let [sort, number] = *row.key else { return None };
    let is_built_in = sort == Sort::CONTENT && usize::from(number) < BUILT_IN_KINDS.len();
    str::from_utf8(&row.value).ok().filter(|name| !name.is_empty() && !is_built_in)?;
    seen.kinds.insert((sort, row.value.clone())).then_some(())
}

/// Whether an item is the cause of a notice of a user.
fn is_of(notice: &Notice, owner: UserId, content: &Content) -> bool {
    let is_same = (content.author, content.published_at) == (notice.place.id.actor, notice.place.at);
    let has_cause = match notice.place.id.kind {
        NoticeKind::Mention => content.mentions.contains(&owner),
        kind => NoticeKind::of_item(content) == notice.on.map(|on| (kind, on)),
    };
    is_same && has_cause && content.audience == notice.audience
}
