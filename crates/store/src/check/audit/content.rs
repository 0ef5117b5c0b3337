//! Items: each live item has its rows in other tables, and each such row has a live item.

use std::collections::{BTreeSet, HashMap};

use super::names::one;
use super::{Audit, Row, Wanted, Way};
use crate::rows::keys;
use crate::rows::tables::{CONTENT, DELETED, OUTBOX, OUTBOX_ARCHIVE, Table};
use crate::rows::values;
use crate::rows::values::Stored;
use model::error::Result;
use model::store::Tier;
use model::{ContentId, Cursor};

impl Audit<'_> {
    pub(super) fn content(&mut self) -> Result<()> {
        self.each_batch(CONTENT, |audit, rows| {
            let mut items = Vec::with_capacity(rows.len());
            for row in rows {
                match read(row) {
                    Some(stored) => items.push((row, stored)),
                    None => audit.unreadable(CONTENT, row),
                }
            }
            audit.deletions(&items)?;
            let live: Vec<_> = items.into_iter().filter(|(_, stored)| stored.deleted_at.is_none()).collect();
            audit.outbox_rows(&live)?;
            audit.topic_rows(&live)?;
            audit.comment_rows(&live)
        })?;
        self.mirror(DELETED, Way::Back, |row| {
            // A purged item is still deleted, and the walk over items finds a live one.
            (one(&row.key).is_some() && row.value.len() == 8).then(Vec::new)
        })?;
        self.outboxes(OUTBOX)?;
        self.outboxes(OUTBOX_ARCHIVE)
    }

    /// Exactly the items marked as deleted have a row in `deleted`.
    fn deletions(&mut self, items: &[(&Row, Stored)]) -> Result<()> {
        let keys = items.iter().map(|(row, _)| &row.key[..]);
        let present = self.store.get_many(DELETED, keys, Tier::Disk)?;
        for ((row, stored), present) in items.iter().zip(present) {
            let marked = stored.deleted_at.map(values::millis);
            match (marked, present) {
                (None, Some(_)) => self.has(DELETED, &row.key, ", but the item is live"),
                (Some(_), None) => self.lacks(DELETED, &row.key),
                (Some(at), Some(value)) if at[..] != value[..] => {
                    self.has(DELETED, &row.key, " with another value than content");
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn outbox_rows(&mut self, live: &[(&Row, Stored)]) -> Result<()> {
        let broadcast: Vec<_> = live.iter().filter(|(_, stored)| stored.content.broadcast).collect();
        let floors = self.outbox_floors(broadcast.iter().map(|(_, stored)| stored.content.author.get()))?;
        let wanted = broadcast.into_iter().map(|(row, stored)| {
            let (author, cursor) = (stored.content.author, stored.content.cursor());
            let table = if below(&floors, author.get(), cursor) { OUTBOX_ARCHIVE } else { OUTBOX };
            (*row, Wanted::any(table, keys::entry(author, cursor)))
        });
        let wanted: Vec<_> = wanted.collect();
        self.look_up(CONTENT, Way::Out, &wanted)
    }

    /// Each valid row of an outbox belongs to a live item of the author.
    fn outboxes(&mut self, table: Table) -> Result<()> {
        self.each_batch(table, |audit, rows| {
            let mut places = audit.places(table, rows);
            let floors = audit.outbox_floors(places.iter().map(|(_, author, _)| *author))?;
            places.retain(|(row, author, cursor)| {
                let archived = below(&floors, *author, *cursor);
                if table == OUTBOX_ARCHIVE && !archived {
                    audit.has(table, &row.key, " above the floor of outbox");
                }
                // Moved rows stay in `outbox` until a compaction.
                archived == (table == OUTBOX_ARCHIVE)
            });
            let items = audit.contents(places.iter().map(|(_, _, cursor)| Some(cursor.id)))?;
            for ((row, author, cursor), item) in places.into_iter().zip(items) {
                let is_right = item.is_some_and(|stored| {
                    let content = &stored.content;
                    let same = content.author.get() == author && content.cursor() == cursor;
                    same && content.broadcast && stored.deleted_at.is_none()
                });
                if !is_right {
                    audit.has(table, &row.key, ", but there is no such live item");
                }
            }
            Ok(())
        })
    }

    /// The rows of a time-ordered table except heads: partition and place.
    pub(super) fn places<'r>(&mut self, table: Table, rows: &'r [Row]) -> Vec<(&'r Row, u64, Cursor)> {
        let mut places = Vec::with_capacity(rows.len());
        for row in rows.iter().filter(|row| !keys::is_head(&row.key)) {
            let place =
                keys::split_row(&row.key).and_then(|(partition, at, id)| Some((partition, keys::cursor(at, id)?)));
            match place {
                Some((partition, cursor)) => places.push((row, partition, cursor)),
                None => self.unreadable(table, row),
            }
        }
        places
    }

    fn outbox_floors(&self, authors: impl Iterator<Item = u64>) -> Result<HashMap<u64, Cursor>> {
        if self.store.outboxes.has_floors() { self.floors(OUTBOX, authors) } else { Ok(HashMap::new()) }
    }

    /// The floors of those partitions that have one.
    pub(super) fn floors(&self, table: Table, partitions: impl Iterator<Item = u64>) -> Result<HashMap<u64, Cursor>> {
        let partitions: BTreeSet<_> = partitions.collect();
        let heads: Vec<_> = partitions.iter().map(|partition| keys::head(*partition)).collect();
        let rows = self.store.get_many(table, heads.iter().map(<[u8; keys::ROW]>::as_slice), Tier::Disk)?;
        let floor = |(partition, row): (u64, Option<_>)| {
            let row: rocksdb::DBPinnableSlice<'_> = row?;
            Some((partition, values::read_cursor(&row)?))
        };
        Ok(partitions.into_iter().zip(rows).filter_map(floor).collect())
    }

    /// The items with these ids, in their order; also deleted items.
    pub(super) fn contents(&self, ids: impl Iterator<Item = Option<ContentId>>) -> Result<Vec<Option<Stored>>> {
        let ids: Vec<_> = ids.collect();
        // No item has the number 0.
        let keys: Vec<_> = ids.iter().map(|id| keys::id(id.map_or(0, ContentId::get))).collect();
        let rows = self.store.get_many(CONTENT, keys.iter().map(<[u8; keys::ID]>::as_slice), Tier::Disk)?;
        Ok(ids.into_iter().zip(rows).map(|(id, row)| values::read_content(id?, &row?).ok()).collect())
    }
}

/// Whether a place is at or below the floor of its partition.
pub(super) fn below(floors: &HashMap<u64, Cursor>, partition: u64, place: Cursor) -> bool {
    floors.get(&partition).is_some_and(|floor| place <= *floor)
}

/// An item as it is stored.
pub(super) fn read(row: &Row) -> Option<Stored> {
    let id = ContentId::new(one(&row.key)?).ok()?;
    values::read_content(id, &row.value).ok()
}
