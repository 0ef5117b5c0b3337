//! The rows of one change.

use super::keys;
use super::mirrors::{Fact, Given};
use super::tables::{COUNTS, Table, mirrors_of};
use super::values;
use model::error::Result;

/// The change of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op<V> {
    /// It has this value.
    Put(V),
    /// It is removed.
    Delete,
    /// A step for the merge of the table.
    Merge(V),
}

impl Op<Vec<u8>> {
    pub(crate) fn as_slice(&self) -> Op<&[u8]> {
        match self {
            Self::Put(value) => Op::Put(value),
            Self::Delete => Op::Delete,
            Self::Merge(step) => Op::Merge(step),
        }
    }
}

/// A change of rows.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// Of one row, by its key.
    Row(&'a [u8], Op<&'a [u8]>),
    /// The rows from a key on and before another one are deleted.
    Range(&'a [u8], &'a [u8]),
}

/// The rows of one change, in the order in which they apply: ranges that are deleted, then single rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteBatch {
    /// From a key on and before another one.
    pub(crate) ranges: Vec<(Table, [Vec<u8>; 2])>,
    pub(crate) rows: Vec<(Table, Vec<u8>, Op<Vec<u8>>)>,
}

impl WriteBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.rows.is_empty()
    }

    /// About how many bytes it takes in the log.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |(_, key, op): &(Table, Vec<u8>, Op<Vec<u8>>)| {
            let value = if let Op::Put(value) | Op::Merge(value) = op { value.len() } else { 0 };
            key.len() + value + 16
        };
        self.rows.iter().map(bytes).sum()
    }

    pub(crate) fn changes(&self) -> impl Iterator<Item = (Table, Change<'_>)> {
        let ranges = self.ranges.iter().map(|(table, [from, to])| (*table, Change::Range(from, to)));
        ranges.chain(self.rows.iter().map(|(table, key, op)| (*table, Change::Row(key, op.as_slice()))))
    }

    pub(crate) fn put(&mut self, table: Table, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        self.rows.push((table, key.as_ref().to_vec(), Op::Put(value.as_ref().to_vec())));
    }

    pub(crate) fn delete(&mut self, table: Table, key: impl AsRef<[u8]>) {
        self.rows.push((table, key.as_ref().to_vec(), Op::Delete));
    }

    pub(crate) fn merge(&mut self, table: Table, key: impl AsRef<[u8]>, step: impl AsRef<[u8]>) {
        self.rows.push((table, key.as_ref().to_vec(), Op::Merge(step.as_ref().to_vec())));
    }

    /// Puts a row, or removes it (`None`).
    pub(crate) fn set(&mut self, table: Table, key: impl AsRef<[u8]>, value: Option<impl AsRef<[u8]>>) {
        match value {
            Some(value) => self.put(table, key, value),
            None => self.delete(table, key),
        }
    }

    /// Changes a row from a value to another one (`None` for no row), with all rows and counts of users that follow from it.
    pub(crate) fn change(
        &mut self,
        table: Table,
        key: impl AsRef<[u8]>,
        values: [Option<Vec<u8>>; 2],
        given: &Given,
    ) -> Result<()> {
        let key = key.as_ref();
        let facts = values.each_ref().map(|value| value.as_deref().map(|value| Fact::new(key, value)));
        for (to, mirror) in mirrors_of(table) {
            for difference in mirror.differences(given, facts)? {
                self.set(to, &difference.key, difference.value.as_ref());
                self.count(to, &difference.key, [difference.was_there, difference.value.is_some()]);
            }
        }
        self.count(table, key, values.each_ref().map(Option::is_some));
        let [_, after] = values;
        self.set(table, key, after);
        Ok(())
    }

    /// Adds the step of a count that a row adds to, if it comes or goes.
    pub(crate) fn count(&mut self, table: Table, key: &[u8], is_there: [bool; 2]) {
        let [before, after] = is_there.map(i64::from);
        if let Some((counter, user)) = table.counter.zip(keys::number(key)).filter(|_| before != after) {
            self.merge(COUNTS, keys::count(user, counter), values::count(after - before));
        }
    }

    /// Deletes the rows that are there before this change.
    pub(crate) fn delete_range(&mut self, table: Table, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) {
        self.ranges.push((table, [from.as_ref().to_vec(), to.as_ref().to_vec()]));
    }
}
