//! Rows of changes that are not written yet, on top of the tables.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::batch::{Change, Op, WriteBatch};
use crate::family::Family;
use crate::view::{Row, RowWalk};
use model::error::{Error, Result};

/// A row, if there is one.
type Found<'a> = Result<Option<Row<'a>>>;

/// The rows of one table, each with its change in the engine.
#[derive(Debug, Clone, Default)]
pub(crate) struct StagedTable {
    pub(crate) rows: BTreeMap<Vec<u8>, Op<Vec<u8>>>,
    /// Ranges of keys whose rows in the engine are deleted.
    pub(crate) ranges: Vec<[Vec<u8>; 2]>,
    /// Values of rows with merge steps that were read, after these steps.
    sums: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl StagedTable {
    fn is_deleted(&self, key: &[u8]) -> bool {
        self.ranges.iter().any(|[from, to]| from.as_slice() <= key && key < to.as_slice())
    }

    /// The row with its staged change. `below` reads the row of the engine.
    fn over<'a>(&self, family: &'static Family, key: &[u8], below: impl FnOnce() -> Found<'a>) -> Found<'a> {
        match self.rows.get(key) {
            Some(Op::Put(value)) => Ok(Some(Row::Staged(value.clone()))),
            Some(Op::Delete) => Ok(None),
            Some(Op::Merge(step)) => match self.sums.get(key) {
                Some(sum) => Ok(Some(Row::Staged(sum.clone()))),
                None => Ok(Some(Row::Staged(family.merged(below()?.as_deref(), step)?))),
            },
            None if self.is_deleted(key) => Ok(None),
            None => below(),
        }
    }

    /// Puts a change of a row on top. Returns the one before it.
    fn add(&mut self, family: &'static Family, key: &[u8], op: Op<Vec<u8>>) -> Result<Option<Op<Vec<u8>>>> {
        let op = match op {
            Op::Merge(step) => match self.rows.get(key) {
                Some(Op::Put(value)) => Op::Put(family.merged(Some(value), &step)?),
                Some(Op::Delete) => Op::Put(family.merged(None, &step)?),
                // Steps can be merged with each other.
                Some(Op::Merge(before)) => {
                    if let Some(sum) = self.sums.get_mut(key) {
                        *sum = family.merged(Some(sum), &step)?;
                    }
                    Op::Merge(family.merged(Some(before), &step)?)
                }
                None if self.is_deleted(key) => Op::Put(family.merged(None, &step)?),
                None => Op::Merge(step),
            },
            op => op,
        };
        if !matches!(op, Op::Merge(_)) {
            self.sums.remove(key);
        }
        Ok(self.rows.insert(key.to_vec(), op))
    }

    /// Returns the changes of rows in the range so far.
    fn delete_range(&mut self, range: [Vec<u8>; 2]) -> BTreeMap<Vec<u8>, Op<Vec<u8>>> {
        let mut gone = self.rows.split_off(&range[0]);
        self.rows.append(&mut gone.split_off(&range[1]));
        self.ranges.push(range);
        gone
    }

    fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        let ranges = self.ranges.iter().map(|[from, to]| Change::Range(from, to));
        ranges.chain(self.rows.iter().map(|(key, op)| Change::Row(key, op.as_slice())))
    }
}

/// A step that takes back a part of a change.
#[derive(Debug)]
enum Back {
    /// Puts the earlier change of a row back, or removes its change (`None`).
    Row(&'static Family, Vec<u8>, Option<Op<Vec<u8>>>),
    /// Removes the last range.
    Range(&'static Family),
}

/// The rows of a group of changes.
#[derive(Debug, Default)]
pub(crate) struct Staged {
    /// By the places of the tables; `None` for one without changes so far.
    tables: Vec<Option<(&'static Family, Arc<StagedTable>)>>,
    /// The steps back to the last [`Staged::keep`], to be taken from the last one on.
    back: Vec<Back>,
    /// An estimate of the bytes of all rows in the log, with those that were taken back.
    pub(crate) bytes: usize,
}

impl Staged {
    /// Puts the rows of a change on top.
    pub(crate) fn add(&mut self, change: WriteBatch) -> Result<()> {
        self.bytes += change.bytes();
        for (family, range) in change.ranges {
            let gone = self.table_mut(family).delete_range(range);
            self.back.extend(gone.into_iter().map(|(key, op)| Back::Row(family, key, Some(op))));
            self.back.push(Back::Range(family));
        }
        for (family, key, op) in change.rows {
            let before = self.table_mut(family).add(family, &key, op)?;
            self.back.push(Back::Row(family, key, before));
        }
        Ok(())
    }

    /// Whether there is something to take back.
    pub(crate) fn has_steps_back(&self) -> bool {
        !self.back.is_empty()
    }

    /// Keeps all up to here.
    pub(crate) fn keep(&mut self) {
        self.back.clear();
    }

    /// Takes back all since the last [`Staged::keep`].
    pub(crate) fn take_back(&mut self) {
        for step in std::mem::take(&mut self.back).into_iter().rev() {
            match step {
                Back::Row(family, key, before) => {
                    let staged = self.table_mut(family);
                    staged.sums.remove(&key);
                    match before {
                        Some(op) => drop(staged.rows.insert(key, op)),
                        None => drop(staged.rows.remove(&key)),
                    }
                }
                Back::Range(family) => drop(self.table_mut(family).ranges.pop()),
            }
        }
    }

    fn table_mut(&mut self, family: &'static Family) -> &mut StagedTable {
        if self.tables.len() <= family.place {
            self.tables.resize_with(family.place + 1, || None);
        }
        let (_, staged) = self.tables[family.place].get_or_insert_with(|| (family, Arc::default()));
        Arc::make_mut(staged)
    }

    /// All changes: of each table first the ranges, then the rows in the order of their keys.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&'static Family, Change<'_>)> {
        let tables = self.tables.iter().flatten();
        tables.flat_map(|(family, rows)| rows.changes().map(move |change| (*family, change)))
    }

    /// The rows of a table, if there are some.
    pub(crate) fn table(&self, family: &'static Family) -> Option<Arc<StagedTable>> {
        let (_, staged) = self.tables.get(family.place)?.as_ref()?;
        (!staged.rows.is_empty() || !staged.ranges.is_empty()).then(|| Arc::clone(staged))
    }

    /// The row with its staged change. `below` reads the row of the engine.
    pub(crate) fn over<'a>(
        &mut self,
        family: &'static Family,
        key: &[u8],
        below: impl FnOnce() -> Found<'a>,
    ) -> Found<'a> {
        let Some(Some((_, staged))) = self.tables.get(family.place) else { return below() };
        let row = staged.over(family, key, below)?;
        // Many changes of a group may read one sum.
        if let (Some(Row::Staged(sum)), Some(Op::Merge(_))) = (&row, staged.rows.get(key)) {
            self.table_mut(family).sums.insert(key.to_vec(), sum.clone());
        }
        Ok(row)
    }
}

/// A walk over a table of the engine, and the rows that are staged on top of it. It goes on in the direction of the last
/// seek.
pub struct Rows<'a> {
    written: RowWalk<'a>,
    family: &'static Family,
    staged: Option<Arc<StagedTable>>,
    /// Where the walk over the staged rows is.
    place: Option<Vec<u8>>,
    forward: bool,
    /// The row at which the walk is, if it is not that of the engine.
    row: Option<(Vec<u8>, Vec<u8>)>,
    failed: Option<Error>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(written: RowWalk<'a>, family: &'static Family, staged: Option<Arc<StagedTable>>) -> Self {
        Self { written, family, staged, place: None, forward: true, row: None, failed: None }
    }

    /// Goes to the first row with this key or a greater one.
    pub fn seek(&mut self, key: impl AsRef<[u8]>) {
        self.begin(true, Some(key.as_ref()));
    }

    /// Goes to the first row.
    pub fn seek_to_first(&mut self) {
        self.begin(true, None);
    }

    /// Goes to the last row with this key or a smaller one.
    pub fn seek_for_prev(&mut self, key: impl AsRef<[u8]>) {
        self.begin(false, Some(key.as_ref()));
    }

    /// Goes to the last row.
    pub fn seek_to_last(&mut self) {
        self.begin(false, None);
    }

    fn begin(&mut self, forward: bool, key: Option<&[u8]>) {
        self.written.seek(forward, key);
        if let Some(staged) = &self.staged {
            let from = key.map_or(Bound::Unbounded, Bound::Included);
            (self.forward, self.place) = (forward, beyond(staged, forward, from));
            self.settle();
        }
    }

    /// Goes to the next row.
    pub fn next(&mut self) {
        self.step(true);
    }

    /// Goes to the row before.
    pub fn prev(&mut self) {
        self.step(false);
    }

    fn step(&mut self, forward: bool) {
        debug_assert!(self.staged.is_none() || forward == self.forward, "a walk has one direction");
        match self.row.take() {
            // The two walks are at one key, or the engine's is farther on.
            Some((key, _)) => {
                if self.written_key() == Some(&key) {
                    self.step_written(forward);
                }
                self.step_staged();
            }
            None => self.step_written(forward),
        }
        self.settle();
    }

    fn step_written(&mut self, forward: bool) {
        if self.written.item().is_some() {
            self.written.step(forward);
        }
    }

    fn written_key(&self) -> Option<&[u8]> {
        self.written.item().map(|(key, _)| key)
    }

    fn step_staged(&mut self) {
        let (Some(staged), Some(place)) = (&self.staged, self.place.take()) else { return };
        self.place = beyond(staged, self.forward, Bound::Excluded(&place));
    }

    /// Goes on to the next row that is there.
    fn settle(&mut self) {
        self.row = None;
        let Some(staged) = self.staged.clone() else { return };
        loop {
            let is_staged = match (self.written_key(), &self.place) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(written), Some(place)) => match self.forward {
                    true => place.as_slice() <= written,
                    false => place.as_slice() >= written,
                },
            };
            match self.place.clone().filter(|_| is_staged) {
                Some(place) => {
                    let below = self.written.item().filter(|(key, _)| *key == place);
                    let is_both = below.is_some();
                    let below = below.map(|(_, value)| Row::Staged(value.to_vec()));
                    match staged.over(self.family, &place, || Ok(below)) {
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
                None => match self.written_key() {
                    Some(key) if staged.is_deleted(key) => self.step_written(self.forward),
                    _ => return,
                },
            }
        }
    }

    /// Key and value of the row.
    pub fn item(&self) -> Option<(&[u8], &[u8])> {
        match &self.row {
            Some((key, value)) => Some((key, value)),
            None => self.written.item(),
        }
    }

    /// The key of the row.
    pub fn key(&self) -> Option<&[u8]> {
        self.item().map(|(key, _)| key)
    }

    /// The error that ended the walk.
    pub fn status(&self) -> Result<()> {
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => self.written.status(),
        }
    }
}

/// The first staged key in a direction.
fn beyond(staged: &StagedTable, forward: bool, from: Bound<&[u8]>) -> Option<Vec<u8>> {
    let found = match forward {
        true => staged.rows.range::<[u8], _>((from, Bound::Unbounded)).next(),
        false => staged.rows.range::<[u8], _>((Bound::Unbounded, from)).next_back(),
    };
    found.map(|(key, _)| key.clone())
}
