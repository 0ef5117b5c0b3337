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

impl Op<&[u8]> {
    pub(crate) fn owned(self) -> Op<Vec<u8>> {
        match self {
            Self::Put(value) => Op::Put(value.to_vec()),
            Self::Delete => Op::Delete,
            Self::Merge(step) => Op::Merge(step.to_vec()),
        }
    }
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

/// Changes of rows in their order, in one piece of memory. Each belongs to a `T`.
#[derive(Debug, Clone)]
pub(crate) struct Ops<T> {
    /// The keys and values, one after the other.
    bytes: Vec<u8>,
    /// The lengths of key and value.
    rows: Vec<(T, usize, Op<usize>)>,
}

impl<T> Default for Ops<T> {
    fn default() -> Self {
        Self { bytes: Vec::with_capacity(256), rows: Vec::with_capacity(8) }
    }
}

impl<T: Copy> Ops<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The bytes of keys and values.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Removes all from the `len`th one on.
    pub(crate) fn truncate(&mut self, len: usize) {
        for (_, key, op) in self.rows.drain(len..) {
            let value = if let Op::Put(value) | Op::Merge(value) = op { value } else { 0 };
            self.bytes.truncate(self.bytes.len() - key - value);
        }
    }

    pub(crate) fn push(&mut self, of: T, key: &[u8], op: Op<&[u8]>) {
        self.bytes.extend_from_slice(key);
        let op = match op {
            Op::Put(value) => Op::Put(self.append(value)),
            Op::Delete => Op::Delete,
            Op::Merge(step) => Op::Merge(self.append(step)),
        };
        self.rows.push((of, key.len(), op));
    }

    fn append(&mut self, value: &[u8]) -> usize {
        self.bytes.extend_from_slice(value);
        value.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (T, &[u8], Op<&[u8]>)> {
        self.rows.iter().scan(&*self.bytes, |bytes, (of, key, op)| {
            let mut take = |len| {
                let (taken, rest) = bytes.split_at_checked(len)?;
                *bytes = rest;
                Some(taken)
            };
            let key = take(*key)?;
            let op = match op {
                Op::Put(value) => Op::Put(take(*value)?),
                Op::Delete => Op::Delete,
                Op::Merge(step) => Op::Merge(take(*step)?),
            };
            Some((*of, key, op))
        })
    }
}

/// The rows of one change, in the order in which they apply: ranges that are deleted, then single rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteBatch {
    /// From a key on and before another one.
    pub(crate) ranges: Vec<(Table, [Vec<u8>; 2])>,
    pub(crate) rows: Ops<Table>,
}

impl WriteBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.rows.is_empty()
    }

    /// About how many bytes it takes in the log.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes() + 16 * self.rows.len()
    }

    pub(crate) fn changes(&self) -> impl Iterator<Item = (Table, Change<'_>)> {
        let ranges = self.ranges.iter().map(|(table, [from, to])| (*table, Change::Range(from, to)));
        ranges.chain(self.rows.iter().map(|(table, key, op)| (table, Change::Row(key, op))))
    }

    pub(crate) fn put(&mut self, table: Table, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        self.rows.push(table, key.as_ref(), Op::Put(value.as_ref()));
    }

    pub(crate) fn delete(&mut self, table: Table, key: impl AsRef<[u8]>) {
        self.rows.push(table, key.as_ref(), Op::Delete);
    }

    pub(crate) fn merge(&mut self, table: Table, key: impl AsRef<[u8]>, step: impl AsRef<[u8]>) {
        self.rows.push(table, key.as_ref(), Op::Merge(step.as_ref()));
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
