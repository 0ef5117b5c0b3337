//! The rows of one change.

use crate::family::Family;

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

/// The change of one row, with its table and its key.
pub(crate) type RowChange = (&'static Family, Vec<u8>, Op<Vec<u8>>);

/// The rows of one change, in the order in which they apply: ranges that are deleted, then single rows.
#[derive(Debug, Clone, Default)]
pub struct WriteBatch {
    /// From a key on and before another one.
    pub(crate) ranges: Vec<(&'static Family, [Vec<u8>; 2])>,
    pub(crate) rows: Vec<RowChange>,
}

impl WriteBatch {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.rows.is_empty()
    }

    /// About how many bytes it takes in the log.
    pub(crate) fn bytes(&self) -> usize {
        let bytes = |(_, key, op): &RowChange| {
            let value = if let Op::Put(value) | Op::Merge(value) = op { value.len() } else { 0 };
            key.len() + value + 16
        };
        self.rows.iter().map(bytes).sum()
    }

    /// The changes of single rows.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Family, &[u8], Op<&[u8]>)> {
        self.rows.iter().map(|(family, key, op)| (*family, key.as_slice(), op.as_slice()))
    }

    pub(crate) fn changes(&self) -> impl Iterator<Item = (&'static Family, Change<'_>)> {
        let ranges = self.ranges.iter().map(|(family, [from, to])| (*family, Change::Range(from, to)));
        ranges.chain(self.rows().map(|(family, key, op)| (family, Change::Row(key, op))))
    }

    /// Puts a row.
    pub fn put(&mut self, family: &'static Family, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.rows.push((family, key.into(), Op::Put(value.into())));
    }

    /// Removes a row.
    pub fn delete(&mut self, family: &'static Family, key: impl Into<Vec<u8>>) {
        self.rows.push((family, key.into(), Op::Delete));
    }

    /// Merges a step into a row.
    pub fn merge(&mut self, family: &'static Family, key: impl Into<Vec<u8>>, step: impl Into<Vec<u8>>) {
        self.rows.push((family, key.into(), Op::Merge(step.into())));
    }

    /// Puts a row, or removes it (`None`).
    pub fn set(&mut self, family: &'static Family, key: impl Into<Vec<u8>>, value: Option<impl Into<Vec<u8>>>) {
        match value {
            Some(value) => self.put(family, key, value),
            None => self.delete(family, key),
        }
    }

    /// Deletes the rows that are there before this change.
    pub fn delete_range(&mut self, family: &'static Family, from: impl Into<Vec<u8>>, to: impl Into<Vec<u8>>) {
        self.ranges.push((family, [from.into(), to.into()]));
    }
}
