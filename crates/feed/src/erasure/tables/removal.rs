//! The removal of rows with all that follows from them, for erasures and purges.

use std::collections::{BTreeMap, BTreeSet};

use crate::items::tables::{FINAL, change_item, count_item, indexing, is_deleted_before, stored};
use crate::reactions::tables::put_reaction;
use crate::rows::changes::change_row;
use crate::rows::keys;
use crate::rows::mirrors::Facts;
use crate::rows::table::AnyTable;
use crate::rows::tables::{ALL, REACTIONS, ending_with_item, origin};
use crate::rows::values::{ItemSteps, Stored, Value};
use crate::store::Store;
use kv::{Scope, Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{ContentId, Entry, Job, Millis};

/// The table and the row at which a purge has come, among the tables whose rows go with an item.
pub type PurgePlace = (usize, Vec<u8>);

/// The rows that a part removes.
#[derive(Default)]
pub(super) struct Removed {
    pub(super) change: WriteBatch,
    pub(super) rows: usize,
    pub(super) jobs: Vec<Job>,
    /// Steps of the counts of items.
    steps: BTreeMap<ContentId, ItemSteps>,
    /// The item of the last reaction.
    item: Option<Entry>,
}

impl Removed {
    /// Removes rows, as far as they are there, with all that follows from them. Each row only once.
    pub(super) fn rows<'k>(
        &mut self,
        store: &Store,
        table: AnyTable,
        keys: impl IntoIterator<Item = &'k Vec<u8>> + Clone,
    ) -> Result<()> {
        for (key, value) in keys.clone().into_iter().zip(store.get_many(table, keys, Tier::Disk)?) {
            let Some(value) = value else { continue };
            self.rows += 1;
            if table != REACTIONS || !self.reaction(store, key, Millis::read(key, &value)?)? {
                change_row(&mut self.change, table, key, [Some(value.to_vec()), None], store)?;
            }
        }
        Ok(())
    }

    /// Removes a reaction with its notice and its part in the counts of the item; false if there is no item.
    fn reaction(&mut self, store: &Store, key: &[u8], since: Millis) -> Result<bool> {
        let (id, kind, user) = keys::read(key).ok_or_else(|| Error::Corrupt("the key of a reaction".to_owned()))?;
        if self.item.is_none_or(|item| item.cursor.id != id) {
            self.item = store.entry(id)?;
        }
        let Some(item) = self.item else { return Ok(false) };
        *self.steps.entry(id).or_default().reactions.entry(kind).or_default() -= 1;
        put_reaction(store, &mut self.change, item, (user, kind, since), false)?;
        Ok(true)
    }

    /// The change that removes them.
    pub(super) fn change(self) -> WriteBatch {
        let Self { mut change, steps, .. } = self;
        steps.iter().for_each(|(id, steps)| count_item(&mut change, *id, steps));
        change
    }
}

/// Removes up to `most` rows that go with an item that was deleted before `deleted_before`, such as its reactions, with all
/// that follows from them. The same change makes the deletion final: it cannot be taken back, and counts as made before any
/// time. Continues behind `after`, the place that the call before returned, so that no call wades through the rows removed by
/// earlier ones. `None` if no more are left, or if there is no such item. Comes before
/// [`purge`](crate::items::tables::purge).
pub fn purge_rows(
    store: &Store,
    id: ContentId,
    deleted_before: Millis,
    most: usize,
    after: Option<PurgePlace>,
) -> Result<Option<PurgePlace>> {
    let stored = stored(store, &[id], Tier::Disk)?.pop().flatten();
    let too_late = |stored: &Stored| stored.deleted_at.is_some_and(|at| is_deleted_before(at, deleted_before));
    let Some(stored) = stored.filter(too_late) else { return Ok(None) };
    let (prefix, mut last) = (keys::id(id.get()), after);
    let (mut found, mut origins) = (Vec::new(), BTreeMap::<_, BTreeSet<_>>::new());
    for (place, table) in ending_with_item(false).enumerate() {
        let from = match &last {
            Some((done, _)) if *done > place => continue,
            Some((done, key)) if *done == place => [key, &[0][..]].concat(),
            _ => prefix.to_vec(),
        };
        let read = |key: &[u8], value: &[u8]| {
            let (of, origin) = origin(table, key, value)?;
            origins.entry(of.place).or_default().insert(origin);
            Ok((table, key.to_vec()))
        };
        let room = most - found.len();
        let rows = store.now(Tier::Disk).beginning((table, Scope::Partition), &prefix, &from, room, read)?;
        last = rows.last().map(|(_, key)| (place, key.clone())).or(last);
        found.extend(rows);
        if found.len() == most {
            break;
        }
    }
    let mut removed = Removed::default();
    for (place, keys) in &origins {
        removed.rows(store, ALL[*place], keys)?;
    }
    // Also those that follow from no row: a damaged directory may have such.
    for (table, key) in &found {
        removed.change.delete(table, key.as_slice());
    }
    if !found.is_empty() {
        // An item with part of its rows must not be restored, whatever the settings at the next start.
        if stored.deleted_at != Some(FINAL) {
            let last = Stored { deleted_at: Some(FINAL), ..stored.clone() };
            change_item(&mut removed.change, [Some(&stored), Some(&last)], &indexing(store, [])?)?;
        }
        store.follow_up(Write::React, removed.change())?;
    }
    Ok(last.filter(|_| found.len() == most))
}
