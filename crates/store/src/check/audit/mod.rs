//! Compares the tables with each other, row by row, while nobody writes.
//!
//! Walks over every table, some rows at a time, and looks up the matching rows of other tables: from the table that
//! keeps a fact to the tables that list it, and back. So it finds both missing and surplus rows, and its memory does
//! not grow with the data.

mod archived;
mod comments;
mod content;
mod counts;
mod events;
mod follows;
mod groups;
mod lists;
mod names;
mod nicknames;
mod notices;
mod numbers;
mod reactions;
mod topics;
mod window;

use std::collections::BTreeSet;

use self::names::{ids, is_readable, named};
use crate::Store;
use crate::rows::tables::{ALL, LISTS, Table};
use crate::rows::{keys, values};
use model::error::Result;
use model::store::{Tier, Watch};
use model::{Millis, UserId};

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

/// A row that must exist because of another one.
#[derive(Debug)]
struct Wanted {
    table: Table,
    key: Vec<u8>,
    /// How its value begins; `None` for any value.
    begin: Option<Vec<u8>>,
    /// Whether the value ends there.
    is_whole: bool,
}

impl Wanted {
    fn new(table: Table, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self { table, key: key.into(), begin: Some(value.into()), is_whole: true }
    }

    /// One of a table whose values begin with a time.
    fn since(table: Table, key: impl Into<Vec<u8>>, since: Millis) -> Self {
        Self { is_whole: false, ..Self::new(table, key, values::millis(since)) }
    }

    fn any(table: Table, key: impl Into<Vec<u8>>) -> Self {
        Self { table, key: key.into(), begin: None, is_whole: false }
    }
}

/// The direction of a comparison of two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From the table that keeps the facts: an absent row is reported as missing.
    Out,
    /// From a table that lists them: the row itself is reported as surplus.
    Back,
}

impl Store {
    /// Compares all data kept in more than one place, except inboxes, and each count with its rows. Reports a line for
    /// each disagreement, in no particular order. Nobody may write meanwhile. Walks over every table several times, in
    /// bounded memory.
    pub fn audit(&self, watch: &mut dyn Watch) -> Result<()> {
        let mut audit = Audit { store: self, watch, looked: BTreeSet::new() };
        audit.follows()?;
        audit.lists_of_pairs()?;
        audit.mirrors_of_pairs()?;
        audit.blocks()?;
        audit.parts_of_lists(window::MOST)?;
        audit.content()?;
        audit.comments()?;
        audit.topics()?;
        audit.reactions()?;
        audit.notices()?;
        audit.nicknames()?;
        audit.records()?;
        audit.events()?;
        audit.names()?;
        audit.kinds()?;
        audit.user_counts()?;
        audit.item_counts(counts::WINDOW)?;
        audit.other_ids()
    }
}

/// An audit under way.
struct Audit<'a> {
    store: &'a Store,
    watch: &'a mut dyn Watch,
    /// The tables in which the numbers of names were looked up.
    looked: BTreeSet<&'static str>,
}

impl<'a> Audit<'a> {
    fn find(&mut self, line: String) {
        self.watch.finds(line);
    }

    /// Reports that a table lacks a row.
    fn lacks(&mut self, table: Table, key: &[u8]) {
        let (whose, what) = named(table, key, |id| self.id(id), |kind| self.kind(kind));
        self.find(format!("{whose}: {table} lacks {what}"));
    }

    /// Reports that a table has a wrong row.
    fn has(&mut self, table: Table, key: &[u8], why: &str) {
        let (whose, what) = named(table, key, |id| self.id(id), |kind| self.kind(kind));
        self.find(format!("{whose}: {table} has {what}{why}"));
    }

    /// A user or an item as the host writes it.
    fn id(&self, id: u64) -> String {
        self.store.shown(id)
    }

    /// The name of a kind of reactions.
    fn kind(&self, byte: u8) -> String {
        self.store.kinds.known().name(byte).map_or_else(|| format!("kind {byte}"), |name| format!("{name:?}"))
    }

    /// Visits all rows of a table in the order of their keys, some at a time.
    fn each_batch(&mut self, table: Table, mut visit: impl FnMut(&mut Self, &[Row]) -> Result<()>) -> Result<()> {
        let mut rows = self.store.whole(table)?;
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
                if !self.looked.contains(table.name) {
                    self.look_up_ids(table, &batch)?;
                }
                visit(self, &batch)?;
                done += batch.len() as u64;
                self.watch.looked_at(table.name, done)?;
                batch.clear();
                bytes = 0;
            }
            if at_end {
                self.looked.insert(table.name);
                return Ok(());
            }
        }
    }

    /// Looks up the rows that each row of a table wants, row by row. `derive` returns `None` for a row that cannot be
    /// read.
    fn mirror(&mut self, table: Table, way: Way, derive: impl Fn(&Row) -> Option<Vec<Wanted>>) -> Result<()> {
        self.each_batch(table, |audit, rows| {
            let mut wanted = Vec::new();
            for row in rows {
                match derive(row) {
                    Some(those) => wanted.extend(those.into_iter().map(|one| (row, one))),
                    None => audit.unreadable(table, row),
                }
            }
            audit.look_up(table, way, &wanted)
        })
    }

    /// Looks up the rows that rows of `from` want, and reports the differences.
    fn look_up(&mut self, from: Table, way: Way, wanted: &[(&Row, Wanted)]) -> Result<()> {
        let mut wanted: Vec<_> = wanted.iter().collect();
        wanted.sort_by_key(|(_, one)| one.table.name);
        for wanted in wanted.chunk_by(|(_, a), (_, b)| a.table == b.table) {
            let table = wanted[0].1.table;
            let present = self.store.get_many(table, wanted.iter().map(|(_, one)| one.key.as_slice()), Tier::Disk)?;
            for ((row, one), present) in wanted.iter().zip(present) {
                let is_right = present.as_ref().map(|value| {
                    let begins = one.begin.as_ref().is_none_or(|want| value.starts_with(want));
                    begins && (!one.is_whole || one.begin.as_ref().map(Vec::len) == Some(value.len()))
                });
                if is_right != Some(true) {
                    match (way, is_right) {
                        (Way::Out, None) => self.lacks(table, &one.key),
                        (Way::Out, Some(_)) => self.has(table, &one.key, &format!(" with another value than {from}")),
                        (Way::Back, _) => self.has(from, &row.key, &format!(", which does not agree with {table}")),
                    }
                }
            }
        }
        Ok(())
    }

    /// Tables whose rows are related to no others: each row must be readable.
    fn records(&mut self) -> Result<()> {
        let tables = ALL.iter().filter_map(|table| Some((*table, table.record?)));
        for (table, reads) in tables {
            self.mirror(table, Way::Back, |row| {
                let is_first = table == LISTS && row.key[..] == *keys::HIGHEST_LIST;
                let has_users = || ids(table, &row.key).into_iter().all(|id| UserId::new(id).is_ok());
                let has_key = is_first || (is_readable(table, &row.key) && has_users());
                (has_key && reads(&row.value)).then(Vec::new)
            })?;
        }
        Ok(())
    }

    fn unreadable(&mut self, table: Table, row: &Row) {
        self.has(table, &row.key, ", which cannot be read");
    }
}
