//! Compares the tables with each other, row by row, while nobody writes.
//!
//! One walk over each table, some rows at a time. The rows that follow from a row must be in their tables, and the row itself
//! must follow from one of its sources; both as the tables [declare](crate::rows::mirrors) it. So it finds both missing and
//! surplus rows, and its memory does not grow with the data.

mod counts;
mod findings;
mod names;
mod rules;
mod window;

use std::collections::{BTreeSet, HashMap};

use self::findings::Findings;
use self::names::{has_readable_key, ids};
use self::rules::Seen;
use crate::check::Watch;
use crate::memory::archived::{Archived, NOBODY};
use crate::rows::keys::{self, Part};
use crate::rows::mirrors::{Fact, Mirror, Source};
use crate::rows::table::AnyTable;
use crate::rows::tables::{ALL, CONTENT, NAMES_BY_NUMBER, mirrors_of};
use crate::rows::values::{self, Number, Value};
use crate::store::Store;
use kv::{Rows, Scope, Tier};
use model::error::Result;
use model::{Cursor, MAX_ID, UserId};

/// Most rows in a batch.
const ROWS: usize = 1000;
/// A batch ends at this many bytes.
const BYTES: usize = 1 << 20;

/// A row as it stands in its table.
#[derive(Debug, Clone)]
struct Row {
    key: Box<[u8]>,
    value: Box<[u8]>,
}

impl Row {
    fn fact(&self) -> Fact<'_> {
        Fact::new(&self.key, &self.value)
    }
}

/// Compares all data kept in more than one place, except inboxes, and each count with its rows. Reports a line for
/// each disagreement, in no particular order. Nobody may write meanwhile. Walks over most tables once, in bounded memory.
pub fn audit(store: &Store, watch: &mut dyn Watch) -> Result<()> {
    let mut audit = Audit { store, findings: Findings { store, watch } };
    let mut seen = Seen::default();
    for table in ALL {
        audit.each_batch(table, |audit, rows| audit.rows(table, rows, &mut seen))?;
    }
    audit.parts_of_lists(window::MOST)?;
    audit.ids_of_topics(window::MOST)?;
    audit.user_counts()?;
    audit.item_counts(window::MOST)
}

/// An audit under way.
struct Audit<'a> {
    store: &'a Store,
    findings: Findings<'a>,
}

impl<'a> Audit<'a> {
    /// A walk over a whole table.
    fn whole(&self, table: AnyTable) -> Result<Rows<'a>> {
        self.store.now(Tier::Disk).rows(table, Scope::Once)
    }

    /// Visits all rows of a table in the order of their keys, some at a time.
    fn each_batch(&mut self, table: AnyTable, mut visit: impl FnMut(&mut Self, &[Row]) -> Result<()>) -> Result<()> {
        let mut rows = self.whole(table)?;
        let (mut batch, mut bytes, mut done) = (Vec::new(), 0, 0);
        rows.seek_to_first();
        loop {
            let row = rows.item().map(|(key, value)| Row { key: key.into(), value: value.into() });
            let at_end = row.is_none();
            if let Some(row) = row {
                bytes += row.key.len() + row.value.len();
                batch.push(row);
                rows.next();
            }
            if at_end || batch.len() == ROWS || bytes >= BYTES {
                rows.status()?;
                visit(self, &batch)?;
                done += batch.len() as u64;
                self.findings.watch.looked_at(table.name, done)?;
                batch.clear();
                bytes = 0;
            }
            if at_end {
                return Ok(());
            }
        }
    }

    /// Checks rows of a table.
    fn rows(&mut self, table: AnyTable, rows: &[Row], seen: &mut Seen) -> Result<()> {
        self.ids_have_names(table, rows)?;
        let mut bad: Vec<_> = rows.iter().map(|row| !is_readable(table, row)).collect();
        for (to, mirror) in mirrors_of(table) {
            self.have_rows(table, rows, (to, mirror), &mut bad)?;
        }
        self.have_sources(table, rows, &mut bad)?;
        self.rules(table, rows, &mut bad, seen)?;
        for (row, _) in rows.iter().zip(bad).filter(|(_, is_bad)| *is_bad) {
            self.findings.unreadable(table, &row.key);
        }
        Ok(())
    }

    /// The rows that follow from these are in the table `to`. Marks the rows that cannot be read.
    fn have_rows(
        &mut self,
        table: AnyTable,
        rows: &[Row],
        (to, mirror): (AnyTable, &Mirror),
        bad: &mut [bool],
    ) -> Result<()> {
        let mut wanted = Vec::new();
        for (row, is_bad) in rows.iter().zip(bad) {
            // A row that follows from several is looked up for the one that it names.
            let names_row = |source: Source| source.key() == Some(&*row.key);
            match (mirror.rows)(self.store, row.fact())? {
                Some(found) => {
                    let own = |(key, value): &(Vec<u8>, Vec<u8>)| (mirror.source)(key, value).is_some_and(names_row);
                    wanted.extend(found.into_iter().filter(own));
                }
                None => *is_bad = true,
            }
        }
        let floors = self.floors(to, wanted.iter().map(|(key, _)| &key[..]))?;
        let (archived, hot): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|(key, _)| floors.cover(key));
        self.look_up(table, to, &hot)?;
        match self.list(to) {
            Some(list) => self.look_up(table, list.archive, &archived),
            None => Ok(()),
        }
    }

    /// Looks up rows that follow from those of `from`.
    fn look_up(&mut self, from: AnyTable, table: AnyTable, wanted: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
        let present = self.store.get_many(table, wanted.iter().map(|(key, _)| key), Tier::Disk)?;
        for ((key, value), present) in wanted.iter().zip(present) {
            match present {
                None => self.findings.lacks(table, key),
                Some(present) if present[..] != value[..] => {
                    self.findings.has(table, key, &format!(" with another value than {from}"));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// These rows follow from others. Marks those that cannot be read.
    fn have_sources(&mut self, table: AnyTable, rows: &[Row], bad: &mut [bool]) -> Result<()> {
        let list = self.list(table);
        let hot = list.map_or(table, |list| list.hot);
        let Some((first, _)) = hot.follows.first() else { return Ok(()) };
        let mut left = self.valid(table, list, rows)?;
        left.retain(|place| !bad[*place]);
        for (of, mirror) in hot.follows {
            let (mut asked, mut sources) = (Vec::new(), Vec::new());
            left.retain(|place| match (mirror.source)(&rows[*place].key, &rows[*place].value) {
                Some(Source::Nothing) => false,
                Some(source) => {
                    asked.push(*place);
                    sources.push(source);
                    true
                }
                None => {
                    bad[*place] = true;
                    false
                }
            });
            let found = sources.iter().map(|source| source.key().unwrap_or_default());
            let found = self.store.get_many(of, found, Tier::Disk)?;
            let mut agree = BTreeSet::new();
            for ((place, source), found) in asked.into_iter().zip(&sources).zip(found) {
                let (row, key) = (&rows[place], source.key().unwrap_or_default());
                let is_row = |(key, value): &(Vec<u8>, Vec<u8>)| key[..] == *row.key && value[..] == *row.value;
                let agrees = match found {
                    None => matches!(source, Source::IfThere(_)),
                    Some(found) => {
                        (mirror.rows)(self.store, Fact::new(key, &found))?.is_some_and(|rows| rows.iter().any(is_row))
                    }
                };
                agree.extend(agrees.then_some(place));
            }
            left.retain(|place| !agree.contains(place));
        }
        for place in left {
            self.findings.disagrees(table, &rows[place].key, first);
        }
        Ok(())
    }

    /// The rows that count: of a list with an archive those above the floor of their partition, and in the archive those at or
    /// below it. Heads of partitions hold floors.
    fn valid(&mut self, table: AnyTable, list: Option<&Archived>, rows: &[Row]) -> Result<Vec<usize>> {
        let Some(list) = list else { return Ok((0..rows.len()).collect()) };
        let is_archive = table == list.archive;
        // Rows of nobody in the archive are marks.
        let is_mark = |key: &[u8]| keys::is_head(key) || is_archive && keys::number(key) == Some(NOBODY);
        let floors = self.floors(list.hot, rows.iter().map(|row| &*row.key))?;
        let mut valid = Vec::new();
        for (place, row) in rows.iter().enumerate().filter(|(_, row)| !is_mark(&row.key)) {
            let is_archived = floors.cover(&row.key);
            if is_archive && !is_archived {
                self.findings.has(table, &row.key, &format!(" above the floor of {}", list.hot));
            }
            // Moved rows stay in the hot table until a compaction.
            valid.extend((is_archived == is_archive).then_some(place));
        }
        Ok(valid)
    }

    /// The list with an archive to which a table belongs.
    fn list(&self, table: AnyTable) -> Option<&'a Archived> {
        [&self.store.memory.outboxes.rows, &self.store.memory.topics.lists]
            .into_iter()
            .find(|list| [list.hot, list.archive].contains(&table))
    }

    /// The floors of the partitions of these keys.
    fn floors<'k>(&self, table: AnyTable, of: impl Iterator<Item = &'k [u8]>) -> Result<Floors> {
        let Some(list) = self.list(table).filter(|list| list.has_floors()) else { return Ok(Floors::default()) };
        let partitions: BTreeSet<_> = of.filter_map(keys::number).collect();
        let heads = partitions.iter().map(|partition| keys::head(*partition));
        let floors = self.store.get_many(list.hot, heads, Tier::Disk)?;
        let floors = partitions
            .into_iter()
            .zip(floors)
            .filter_map(|(partition, floor)| Some((partition, values::read_cursor(&floor?)?)));
        Ok(Floors(floors.collect()))
    }

    /// Each number of a name in these rows has a name.
    fn ids_have_names(&mut self, table: AnyTable, rows: &[Row]) -> Result<()> {
        let mut found = Vec::new();
        for row in rows {
            let in_key = ids(table, &row.key).into_iter();
            let stored = if table == CONTENT { row.fact().item() } else { None };
            let in_value = stored.iter().flat_map(|stored| {
                let content = &stored.content;
                let ids = [Some(content.author.get()), content.ref_id.map(|id| id.get())].into_iter().flatten();
                ids.chain(content.to.iter().chain(&content.mentions).map(|user| user.get()))
            });
            found.extend(in_key.chain(in_value).filter(|id| *id > MAX_ID).map(|id| (id, row)));
        }
        let distinct: BTreeSet<_> = found.iter().map(|(id, _)| *id).collect();
        let names = self.store.get_many(&NAMES_BY_NUMBER, distinct.iter().copied().map(keys::id), Tier::Disk)?;
        let nameless: BTreeSet<_> =
            distinct.into_iter().zip(names).filter(|(_, name)| name.is_none()).map(|(id, _)| id).collect();
        for (id, row) in found.into_iter().filter(|(id, _)| nameless.contains(id)) {
            self.findings.has(table, &row.key, &format!(", but number {id} has no name"));
        }
        Ok(())
    }
}

/// The floors of partitions.
#[derive(Debug, Default)]
struct Floors(HashMap<u64, Cursor>);

impl Floors {
    /// Whether the place of a row is at or below the floor of its partition.
    fn cover(&self, key: &[u8]) -> bool {
        let place = keys::place(key);
        place.is_some_and(|(partition, place)| self.0.get(&partition).is_some_and(|floor| place <= *floor))
    }
}

/// Whether a row can be read, as its table declares.
fn is_readable(table: AnyTable, row: &Row) -> bool {
    let has_users = || ids(table, &row.key).into_iter().all(|id| UserId::new(id).is_ok());
    match table.keys {
        // A floor, or a mark of nobody.
        [Part::Id(_), Part::Place(_)] if keys::is_head(&row.key) || keys::number(&row.key) == Some(NOBODY) => true,
        // The highest number given.
        [.., Part::Name(_) | Part::Text(_)] if row.key.is_empty() => Number::read(&[], &row.value).is_ok(),
        _ => has_readable_key(table, &row.key) && has_users() && (table.is_readable)(&row.key, &row.value),
    }
}
