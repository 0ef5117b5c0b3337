//! Lists with an archive: above the floor of a partition its rows are in the hot table, at or below it in the archive.

use std::collections::{BTreeSet, HashMap};

use super::{Audit, Row, Wanted, Way};
use crate::rows::keys;
use crate::rows::tables::{CONTENT, Table};
use crate::rows::values;
use crate::subjects::archive::{Archived, NOBODY};
use model::error::Result;
use model::store::Tier;
use model::{Content, Cursor};

impl Audit<'_> {
    /// Each valid row of either table belongs to a live item in the partition, as `is_listed` tells by the row.
    pub(super) fn archived(
        &mut self,
        list: &Archived,
        what: &str,
        is_listed: impl Fn(&Self, &Row, u64, &Content) -> Result<bool>,
    ) -> Result<()> {
        for table in [list.hot, list.archive] {
            let is_archive = table == list.archive;
            self.each_batch(table, |audit, rows| {
                // Rows of nobody in the archive are marks.
                let is_mark = |row: &Row| is_archive && keys::number(&row.key) == Some(NOBODY);
                let mut places = audit.places(table, &rows[rows.partition_point(is_mark)..]);
                let floors = audit.floors(list, places.iter().map(|(_, partition, _)| *partition))?;
                places.retain(|(row, partition, cursor)| {
                    let archived = below(&floors, *partition, *cursor);
                    if is_archive && !archived {
                        audit.has(table, &row.key, &format!(" above the floor of {}", list.hot));
                    }
                    // Moved rows stay in the hot table until a compaction.
                    archived == is_archive
                });
                audit.must_be_live(table, places, what, &is_listed)
            })?;
        }
        Ok(())
    }

    /// Each of these rows belongs to a live item in the partition, as `is_listed` tells by the row.
    pub(super) fn must_be_live(
        &mut self,
        table: Table,
        places: Vec<(&Row, u64, Cursor)>,
        what: &str,
        is_listed: &dyn Fn(&Self, &Row, u64, &Content) -> Result<bool>,
    ) -> Result<()> {
        let items = self.contents(places.iter().map(|(_, _, cursor)| Some(cursor.id)))?;
        for ((row, partition, cursor), item) in places.into_iter().zip(items) {
            let live = item.filter(|item| item.deleted_at.is_none() && item.content.cursor() == cursor);
            if !live.map_or(Ok(false), |item| is_listed(self, row, partition, &item.content))? {
                self.has(table, &row.key, &format!(", but there is no such live {what}"));
            }
        }
        Ok(())
    }

    /// Each of these items, which are at a place in a partition, has its row there with this value.
    pub(super) fn listed(&mut self, list: &Archived, items: Vec<(&Row, u64, Cursor, Vec<u8>)>) -> Result<()> {
        let floors = self.floors(list, items.iter().map(|(_, partition, ..)| *partition))?;
        let wanted = items.into_iter().map(|(row, partition, place, value)| {
            let table = if below(&floors, partition, place) { list.archive } else { list.hot };
            (row, Wanted::new(table, keys::row(partition, place.at, place.id.get()), value))
        });
        self.look_up(CONTENT, Way::Out, &wanted.collect::<Vec<_>>())
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

    /// The floors of those partitions that have one.
    fn floors(&self, list: &Archived, partitions: impl Iterator<Item = u64>) -> Result<HashMap<u64, Cursor>> {
        if !list.has_floors() {
            return Ok(HashMap::new());
        }
        let partitions: BTreeSet<_> = partitions.collect();
        let heads = partitions.iter().map(|partition| keys::head(*partition));
        let floors = self.store.read_many(list.hot, heads, Tier::Disk, |row| Ok(values::read_cursor(row)))?;
        Ok(partitions.into_iter().zip(floors).filter_map(|(partition, floor)| Some((partition, floor??))).collect())
    }
}

/// Whether a place is at or below the floor of its partition.
fn below(floors: &HashMap<u64, Cursor>, partition: u64, place: Cursor) -> bool {
    floors.get(&partition).is_some_and(|floor| place <= *floor)
}
