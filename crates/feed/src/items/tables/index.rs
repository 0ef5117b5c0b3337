//! Items with all that follows from them: their rows in lists, and their parts in counts.

use std::collections::HashMap;

use super::rows::is_purged;
use crate::memory::archived::Floors;
use crate::rows::changes::count_row;
use crate::rows::mirrors::{Fact, Facts, subject};
use crate::rows::table::AnyTable;
use crate::rows::tables::{CONTENT, FOLLOWING, ITEM_COUNTS, TOPIC_IDS, mirrors_of};
use crate::rows::values::{ItemSteps, Number, Stored};
use crate::rows::{keys, values};
use crate::store::Store;
use kv::{Tier, WriteBatch};
use model::error::Result;
use model::{Content, ContentId, Entry, ItemCounter, Millis, TopicId};

/// Facts for a change of some items about the rows that follow from them.
pub(crate) struct Indexing<'a> {
    store: &'a Store,
    /// The ids of their topics.
    topics: HashMap<String, TopicId>,
    floors: [Floors<'a>; 2],
}

impl Indexing<'_> {
    /// Puts a row into a change, or removes it (`None`), in the table of its place if that has an archive.
    fn set(&self, change: &mut WriteBatch, table: AnyTable, key: &[u8], value: Option<Vec<u8>>) -> Result<()> {
        match self.floors.iter().find(|floors| floors.table() == table) {
            Some(floors) => floors.set(self.store, change, key, value),
            None => {
                change.set(table, key, value);
                Ok(())
            }
        }
    }
}

impl Facts for Indexing<'_> {
    fn followed_since(&self, user: u64, target: u64) -> Result<Option<Millis>> {
        self.store.followed_since(user, target)
    }

    fn entry(&self, item: ContentId) -> Result<Option<Entry>> {
        self.store.entry(item)
    }

    fn has_purged(&self, item: ContentId) -> Result<bool> {
        self.store.has_purged(item)
    }

    fn topic_id(&self, name: &str) -> Result<Option<u64>> {
        Ok(self.topics.get(name).map(|id| id.get()))
    }
}

/// For a change that makes items live, or removes them. Gives ids to their topics that have none.
pub(crate) fn indexing<'c>(store: &Store, contents: impl IntoIterator<Item = &'c Content>) -> Result<Indexing<'_>> {
    let (topics, rows) = store.memory.topics.give_ids(store, contents)?;
    store.begin_change(rows)?;
    Ok(Indexing { store, topics, floors: [store.memory.outboxes.rows.floors(), store.memory.topics.lists.floors()] })
}

/// Changes an item (`None` for no item), with all rows and counts that follow from it. If it is live before or afterwards, it is
/// one of those given to [`indexing`].
pub(crate) fn change_item(change: &mut WriteBatch, items: [Option<&Stored>; 2], indexing: &Indexing<'_>) -> Result<()> {
    for (to, mirror) in mirrors_of(&CONTENT) {
        for difference in mirror.differences(indexing, items.map(|item| item.map(Fact::of_item)))? {
            count_row(change, to, &difference.key, [difference.was_there, difference.value.is_some()]);
            indexing.set(change, to, &difference.key, difference.value)?;
        }
    }
    let [before, after] = items;
    if let Some(Stored { content, .. }) = after.or(before) {
        CONTENT.set(change, content.id, after)?;
        let is_live = |item: Option<&Stored>| i64::from(item.is_some_and(|item| item.deleted_at.is_none()));
        let step = is_live(after) - is_live(before);
        if step != 0
            && let Some((subject, counter)) = subject(indexing, content)?.zip(ItemCounter::of_kind(&content.kind))
        {
            let mut steps = ItemSteps::default();
            steps.pointing[counter as usize] = step;
            count_item(change, subject, &steps);
        }
    }
    Ok(())
}

/// Adds steps of an item's counters to a change.
pub(crate) fn count_item(change: &mut WriteBatch, id: ContentId, steps: &ItemSteps) {
    if *steps != ItemSteps::default() {
        change.merge(&ITEM_COUNTS, keys::id(id.get()), values::item_counts(steps));
    }
}

/// As far as the rows can be read.
impl Facts for Store {
    fn followed_since(&self, user: u64, target: u64) -> Result<Option<Millis>> {
        let row = self.get(&FOLLOWING, &keys::of((user, target)), Tier::Disk)?;
        Ok(row.and_then(|row| values::read_millis(&row).ok()))
    }

    fn entry(&self, item: ContentId) -> Result<Option<Entry>> {
        Ok(CONTENT.readable(self.now(Tier::Disk), item)?.map(|stored| stored.content.entry()))
    }

    fn has_purged(&self, item: ContentId) -> Result<bool> {
        is_purged(self, item, Tier::Disk)
    }

    fn topic_id(&self, name: &str) -> Result<Option<u64>> {
        Ok(TOPIC_IDS.readable(self.now(Tier::Disk), name)?.map(|Number(id)| id))
    }
}
