//! The rows of one change.

use super::tables::Table;

/// The change of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Op {
    Put(Vec<u8>),
    Delete,
    /// A step for the merge of the table.
    Merge(Vec<u8>),
}

/// The rows of one change, in the order in which they apply: ranges that are deleted, then single rows.
#[derive(Debug, Default)]
pub(crate) struct WriteBatch {
    /// From a key on and before another one.
    pub(crate) ranges: Vec<(Table, [Vec<u8>; 2])>,
    pub(crate) rows: Vec<(Table, Vec<u8>, Op)>,
}

impl WriteBatch {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.rows.is_empty()
    }

    /// About how many bytes it takes in the log.
    pub(crate) fn bytes(&self) -> usize {
        let of_row = |(_, key, op): &(Table, Vec<u8>, Op)| match op {
            Op::Put(value) | Op::Merge(value) => 16 + key.len() + value.len(),
            Op::Delete => 16 + key.len(),
        };
        self.rows.iter().map(of_row).sum()
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

    /// Deletes the rows that are there before this change.
    pub(crate) fn delete_range(&mut self, table: Table, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) {
        self.ranges.push((table, [from.as_ref().to_vec(), to.as_ref().to_vec()]));
    }
}
