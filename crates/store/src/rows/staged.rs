//! Rows of changes that are not written yet, on top of the tables.

use std::collections::{BTreeMap, HashMap};
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

/// The rows of one table: what becomes of them in the engine, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct StagedTable {
    rows: BTreeMap<Vec<u8>, Op>,
    /// The engine's rows in them are deleted.
    ranges: Vec<[Vec<u8>; 2]>,
}

impl StagedTable {
    fn is_deleted(&self, key: &[u8]) -> bool {
        self.ranges.iter().any(|[from, to]| from.as_slice() <= key && key < to.as_slice())
    }

    /// A row, if the engine has this one below.
    fn over<'a>(&self, table: Table, key: &[u8], below: Option<Row<'a>>) -> Result<Option<Row<'a>>> {
        let below = below.filter(|_| !self.is_deleted(key));
        Ok(match self.rows.get(key) {
            None => below,
            Some(Op::Delete) => None,
            Some(Op::Put(value)) => Some(Row::Staged(value.clone())),
            Some(Op::Merge(step)) => Some(Row::Staged(merged(table, below.as_deref(), step)?)),
        })
    }
}

/// The rows of a group of changes.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    tables: HashMap<&'static str, Arc<StagedTable>>,
}

impl Staged {
    /// Puts the rows of a change on top.
    pub(crate) fn add(&mut self, change: &WriteBatch) -> Result<()> {
        for (table, [from, to]) in &change.ranges {
            let staged = Arc::make_mut(self.tables.entry(table.name).or_default());
            staged.rows.retain(|key, _| key < from || key >= to);
            staged.ranges.push([from.clone(), to.clone()]);
        }
        for (table, key, op) in &change.rows {
            let staged = Arc::make_mut(self.tables.entry(table.name).or_default());
            let op = match (op, staged.rows.get(key)) {
                (Op::Merge(step), Some(Op::Put(value))) => Op::Put(merged(table, Some(value), step)?),
                (Op::Merge(step), Some(Op::Delete)) => Op::Put(merged(table, None, step)?),
                (Op::Merge(step), None) if staged.is_deleted(key) => Op::Put(merged(table, None, step)?),
                // Steps add up as sums do.
                (Op::Merge(step), Some(Op::Merge(before))) => Op::Merge(merged(table, Some(before), step)?),
                (op, _) => op.clone(),
            };
            staged.rows.insert(key.clone(), op);
        }
        Ok(())
    }

    pub(crate) fn table(&self, table: Table) -> Option<Arc<StagedTable>> {
        self.tables.get(table.name).map(Arc::clone)
    }

    /// A row, if the engine has this one below.
    pub(crate) fn over<'a>(&self, table: Table, key: &[u8], below: Option<Row<'a>>) -> Result<Option<Row<'a>>> {
        match self.tables.get(table.name) {
            Some(staged) => staged.over(table, key, below),
            None => Ok(below),
        }
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
