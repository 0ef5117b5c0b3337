//! Rows of changes that are not written yet, on top of the tables.

use std::collections::BTreeMap;
use std::ops::{Bound, Deref};
use std::sync::Arc;

use rocksdb::{DBPinnableSlice, DBRawIterator};

use super::batch::{Op, Ops, WriteBatch};
use super::tables::{ALL, Table};
use model::error::{Error, Result};

/// A row as the engine has it, or as it will be.
pub(crate) enum Row<'a> {
    Written(DBPinnableSlice<'a>),
    Staged(Vec<u8>),
}

/// A row, if there is one.
type Found<'a> = Result<Option<Row<'a>>>;

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
    pub(crate) rows: BTreeMap<Vec<u8>, Op<Vec<u8>>>,
    /// The engine's rows in them are deleted.
    pub(crate) ranges: Vec<[Vec<u8>; 2]>,
    /// Rows with steps that were read, as they are after these.
    sums: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl StagedTable {
    fn is_deleted(&self, key: &[u8]) -> bool {
        self.ranges.iter().any(|[from, to]| from.as_slice() <= key && key < to.as_slice())
    }

    /// A row, if the engine has the one of `below`.
    fn over<'a>(&self, table: Table, key: &[u8], below: impl FnOnce() -> Found<'a>) -> Found<'a> {
        match self.rows.get(key) {
            Some(Op::Put(value)) => Ok(Some(Row::Staged(value.clone()))),
            Some(Op::Delete) => Ok(None),
            Some(Op::Merge(step)) => match self.sums.get(key) {
                Some(sum) => Ok(Some(Row::Staged(sum.clone()))),
                None => Ok(Some(Row::Staged(merged(table, below()?.as_deref(), step)?))),
            },
            None if self.is_deleted(key) => Ok(None),
            None => below(),
        }
    }

    fn add(&mut self, table: Table, key: &[u8], op: Op<&[u8]>) -> Result<()> {
        let step = match op {
            Op::Merge(step) => step,
            op => {
                self.set(key, op.owned());
                return Ok(());
            }
        };
        let is_deleted = self.is_deleted(key);
        match self.rows.get_mut(key) {
            Some(Op::Put(value)) => *value = merged(table, Some(value), step)?,
            Some(op @ Op::Delete) => *op = Op::Put(merged(table, None, step)?),
            // Steps add up as sums do.
            Some(Op::Merge(before)) => {
                *before = merged(table, Some(before), step)?;
                if let Some(sum) = self.sums.get_mut(key) {
                    *sum = merged(table, Some(sum), step)?;
                }
            }
            None if is_deleted => self.set(key, Op::Put(merged(table, None, step)?)),
            None => self.set(key, Op::Merge(step.to_vec())),
        }
        Ok(())
    }

    fn set(&mut self, key: &[u8], op: Op<Vec<u8>>) {
        self.sums.remove(key);
        self.rows.insert(key.to_vec(), op);
    }
}

/// The rows of a group of changes in one table.
#[derive(Debug)]
pub(crate) enum OfTable {
    /// In their order, as long as no change reads any. Steps are added up, so a table with a merge has none of these.
    Unread(Ops<()>),
    ByKey(Arc<StagedTable>),
}

/// The rows of a group of changes.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    /// By the places of the tables.
    tables: Vec<Option<OfTable>>,
}

impl Staged {
    /// Puts the rows of a change on top.
    pub(crate) fn add(&mut self, change: &WriteBatch) -> Result<()> {
        for (table, range) in &change.ranges {
            self.table_mut(table);
            if let Some(staged) = self.by_key(table)? {
                let ([from, to], staged) = (range, Arc::make_mut(staged));
                staged.rows.retain(|key, _| key < from || key >= to);
                staged.ranges.push(range.clone());
            }
        }
        for (table, key, op) in change.rows.iter() {
            match self.table_mut(table) {
                OfTable::Unread(ops) => ops.push((), key, op),
                OfTable::ByKey(staged) => Arc::make_mut(staged).add(table, key, op)?,
            }
        }
        Ok(())
    }

    fn table_mut(&mut self, table: Table) -> &mut OfTable {
        if self.tables.len() <= table.place {
            self.tables.resize_with(table.place + 1, || None);
        }
        self.tables[table.place].get_or_insert_with(|| match table.merge {
            Some(_) => OfTable::ByKey(Arc::default()),
            None => OfTable::Unread(Ops::default()),
        })
    }

    /// The rows of a table by their keys, if there are some.
    fn by_key(&mut self, table: Table) -> Result<Option<&mut Arc<StagedTable>>> {
        let Some(Some(rows)) = self.tables.get_mut(table.place) else { return Ok(None) };
        if let OfTable::Unread(ops) = rows {
            let mut staged = StagedTable::default();
            ops.iter().try_for_each(|((), key, op)| staged.add(table, key, op))?;
            *rows = OfTable::ByKey(Arc::new(staged));
        }
        Ok(if let OfTable::ByKey(staged) = rows { Some(staged) } else { None })
    }

    /// All tables with rows.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (Table, &OfTable)> {
        ALL.iter().zip(&self.tables).filter_map(|(table, rows)| Some((*table, rows.as_ref()?)))
    }

    pub(crate) fn table(&mut self, table: Table) -> Result<Option<Arc<StagedTable>>> {
        Ok(self.by_key(table)?.map(|staged| Arc::clone(staged)))
    }

    /// A row, if the engine has the one of `below`.
    pub(crate) fn over<'a>(&mut self, table: Table, key: &[u8], below: impl FnOnce() -> Found<'a>) -> Found<'a> {
        let Some(staged) = self.by_key(table)? else { return below() };
        let row = staged.over(table, key, below)?;
        // Many changes of a group may read one sum.
        if let (Some(Row::Staged(sum)), Some(Op::Merge(_))) = (&row, staged.rows.get(key)) {
            Arc::make_mut(staged).sums.insert(key.to_vec(), sum.clone());
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
                    match staged.over(self.table, &place, || Ok(below)) {
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
