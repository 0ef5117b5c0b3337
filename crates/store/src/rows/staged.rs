//! Rows of changes that are not written yet, on top of the tables.

use std::collections::BTreeMap;
use std::ops::{Bound, Deref};
use std::sync::Arc;

use rocksdb::{DBPinnableSlice, DBRawIterator};

use super::batch::{Op, WriteBatch};
use super::tables::Table;
use model::error::{Error, Result};

/// A row as the engine has it, or as it will be.
pub(crate) enum Row<'a> {
    Written(DBPinnableSlice<'a>),
    Staged(Vec<u8>),
}

impl Row<'_> {
    /// Whether others see it. What is not written yet may fail, so no cache keeps it.
    pub(crate) fn is_written(&self) -> bool {
        matches!(self, Self::Written(_))
    }
}

impl Deref for Row<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Written(row) => row,
            Self::Staged(row) => row,
        }
    }
}

/// The rows of one table, each with its change in the engine.
#[derive(Debug, Clone, Default)]
pub(crate) struct StagedTable {
    pub(crate) rows: BTreeMap<Vec<u8>, Op>,
    /// The engine's rows in them are deleted.
    pub(crate) ranges: Vec<[Vec<u8>; 2]>,
    /// Rows with steps that were read, as they are after these.
    sums: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl StagedTable {
    fn is_deleted(&self, key: &[u8]) -> bool {
        self.ranges.iter().any(|[from, to]| from.as_slice() <= key && key < to.as_slice())
    }

    /// A row, if that does not depend on the engine's.
    fn alone(&self, key: &[u8]) -> Option<Option<Vec<u8>>> {
        match self.rows.get(key) {
            Some(Op::Put(value)) => Some(Some(value.clone())),
            Some(Op::Delete) => Some(None),
            Some(Op::Merge(_)) => self.sums.get(key).map(|sum| Some(sum.clone())),
            None => self.is_deleted(key).then_some(None),
        }
    }

    /// A row, if the engine has this one below.
    fn over<'a>(&self, table: Table, key: &[u8], below: Option<Row<'a>>) -> Result<Option<Row<'a>>> {
        if let Some(row) = self.alone(key) {
            return Ok(row.map(Row::Staged));
        }
        match self.rows.get(key) {
            Some(Op::Merge(step)) => Ok(Some(Row::Staged(merged(table, below.as_deref(), step)?))),
            _ => Ok(below),
        }
    }

    fn add(&mut self, table: Table, key: Vec<u8>, op: Op) -> Result<()> {
        let Op::Merge(step) = op else {
            self.sums.remove(&key);
            self.rows.insert(key, op);
            return Ok(());
        };
        let is_deleted = self.is_deleted(&key);
        match self.rows.get_mut(&key) {
            Some(Op::Put(value)) => *value = merged(table, Some(value), &step)?,
            Some(op @ Op::Delete) => *op = Op::Put(merged(table, None, &step)?),
            // Steps add up as sums do.
            Some(Op::Merge(before)) => {
                *before = merged(table, Some(before), &step)?;
                if let Some(sum) = self.sums.get_mut(&key) {
                    *sum = merged(table, Some(sum), &step)?;
                }
            }
            None if is_deleted => _ = self.rows.insert(key, Op::Put(merged(table, None, &step)?)),
            None => _ = self.rows.insert(key, Op::Merge(step)),
        }
        Ok(())
    }
}

/// The rows of a group of changes.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    /// Some tables, which are found by looking at each.
    tables: Vec<(Table, Arc<StagedTable>)>,
}

impl Staged {
    /// Puts the rows of a change on top.
    pub(crate) fn add(&mut self, change: WriteBatch) -> Result<()> {
        for (table, range) in change.ranges {
            let staged = self.change(table);
            let [from, to] = &range;
            staged.rows.retain(|key, _| key < from || key >= to);
            staged.ranges.push(range);
        }
        change.rows.into_iter().try_for_each(|(table, key, op)| self.change(table).add(table, key, op))
    }

    fn change(&mut self, table: Table) -> &mut StagedTable {
        let place = self.tables.iter().position(|(of, _)| *of == table).unwrap_or_else(|| {
            self.tables.push((table, Arc::default()));
            self.tables.len() - 1
        });
        Arc::make_mut(&mut self.tables[place].1)
    }

    fn find(&self, table: Table) -> Option<&Arc<StagedTable>> {
        self.tables.iter().find(|(of, _)| *of == table).map(|(_, staged)| staged)
    }

    /// All tables with rows.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (Table, &StagedTable)> {
        self.tables.iter().map(|(table, staged)| (*table, &**staged))
    }

    pub(crate) fn table(&self, table: Table) -> Option<Arc<StagedTable>> {
        self.find(table).map(Arc::clone)
    }

    /// A row, if that does not depend on the engine's.
    pub(crate) fn alone(&self, table: Table, key: &[u8]) -> Option<Option<Vec<u8>>> {
        self.find(table)?.alone(key)
    }

    /// A row, if the engine has this one below.
    pub(crate) fn over<'a>(&mut self, table: Table, key: &[u8], below: Option<Row<'a>>) -> Result<Option<Row<'a>>> {
        let Some(staged) = self.find(table) else { return Ok(below) };
        let row = staged.over(table, key, below)?;
        // Many changes of a group may read one sum.
        if let (Some(Row::Staged(sum)), Some(Op::Merge(_))) = (&row, staged.rows.get(key)) {
            let sum = sum.clone();
            self.change(table).sums.insert(key.to_vec(), sum);
        }
        Ok(row)
    }
}

fn merged(table: Table, present: Option<&[u8]>, step: &[u8]) -> Result<Vec<u8>> {
    let merge = table.merge.ok_or_else(|| Error::Corrupt(format!("a merge of a staged row of {table}")))?;
    Ok(merge(present, step))
}

/// A walk over a table of the engine, and the rows that are staged on top of it. It goes on in the direction of the last
/// seek.
pub(crate) struct Rows<'a> {
    written: DBRawIterator<'a>,
    table: Table,
    staged: Option<Arc<StagedTable>>,
    /// Where the walk over the staged rows is.
    place: Option<Vec<u8>>,
    forward: bool,
    /// The row at which the walk is, if it is not that of the engine.
    row: Option<(Vec<u8>, Vec<u8>)>,
    failed: Option<Error>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(written: DBRawIterator<'a>, table: Table, staged: Option<Arc<StagedTable>>) -> Self {
        Self { written, table, staged, place: None, forward: true, row: None, failed: None }
    }

    pub(crate) fn seek(&mut self, key: impl AsRef<[u8]>) {
        self.written.seek(key.as_ref());
        self.begin(true, |staged| first(staged, Bound::Included(key.as_ref())));
    }

    pub(crate) fn seek_for_prev(&mut self, key: impl AsRef<[u8]>) {
        self.written.seek_for_prev(key.as_ref());
        self.begin(false, |staged| last(staged, Bound::Included(key.as_ref())));
    }

    pub(crate) fn seek_to_last(&mut self) {
        self.written.seek_to_last();
        self.begin(false, |staged| last(staged, Bound::Unbounded));
    }

    fn begin(&mut self, forward: bool, place: impl FnOnce(&StagedTable) -> Option<Vec<u8>>) {
        if let Some(staged) = &self.staged {
            (self.forward, self.place) = (forward, place(staged));
            self.settle();
        }
    }

    pub(crate) fn next(&mut self) {
        self.step(true);
    }

    pub(crate) fn prev(&mut self) {
        self.step(false);
    }

    fn step(&mut self, forward: bool) {
        debug_assert!(self.staged.is_none() || forward == self.forward, "a walk has one direction");
        match self.row.take() {
            // The two walks are at one key, or the engine's is farther on.
            Some((key, _)) => {
                if self.written.key() == Some(&key) {
                    self.step_written(forward);
                }
                self.step_staged();
            }
            None => self.step_written(forward),
        }
        self.settle();
    }

    fn step_written(&mut self, forward: bool) {
        if self.written.valid() {
            if forward { self.written.next() } else { self.written.prev() }
        }
    }

    fn step_staged(&mut self) {
        let (Some(staged), Some(place)) = (&self.staged, self.place.take()) else { return };
        self.place = match self.forward {
            true => first(staged, Bound::Excluded(&place)),
            false => last(staged, Bound::Excluded(&place)),
        };
    }

    /// Goes on to the next row that is there.
    fn settle(&mut self) {
        self.row = None;
        let Some(staged) = self.staged.clone() else { return };
        loop {
            let is_staged = match (self.written.key(), &self.place) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(written), Some(place)) => match self.forward {
                    true => place.as_slice() <= written,
                    false => place.as_slice() >= written,
                },
            };
            match self.place.clone().filter(|_| is_staged) {
                Some(place) => {
                    let is_both = self.written.key() == Some(&place);
                    let below = self.written.value().filter(|_| is_both).map(|value| Row::Staged(value.to_vec()));
                    match staged.over(self.table, &place, below) {
                        Ok(Some(row)) => {
                            self.row = Some((place, row.to_vec()));
                            return;
                        }
                        Ok(None) => {}
                        Err(error) => self.failed = Some(error),
                    }
                    if is_both {
                        self.step_written(self.forward);
                    }
                    self.step_staged();
                }
                None => match self.written.key() {
                    Some(key) if staged.is_deleted(key) => self.step_written(self.forward),
                    _ => return,
                },
            }
        }
    }

    pub(crate) fn item(&self) -> Option<(&[u8], &[u8])> {
        match &self.row {
            Some((key, value)) => Some((key, value)),
            None => self.written.item(),
        }
    }

    pub(crate) fn key(&self) -> Option<&[u8]> {
        self.item().map(|(key, _)| key)
    }

    /// The error that ended the walk.
    pub(crate) fn status(&self) -> Result<()> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => self.written.status().map_err(crate::storage),
        }
    }
}

fn first(staged: &StagedTable, from: Bound<&[u8]>) -> Option<Vec<u8>> {
    staged.rows.range::<[u8], _>((from, Bound::Unbounded)).next().map(|(key, _)| key.clone())
}

fn last(staged: &StagedTable, to: Bound<&[u8]>) -> Option<Vec<u8>> {
    staged.rows.range::<[u8], _>((Bound::Unbounded, to)).next_back().map(|(key, _)| key.clone())
}
