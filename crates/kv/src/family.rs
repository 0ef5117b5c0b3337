//! The families of rows: the tables of an engine, and how it treats each.

use std::fmt;

use model::error::{Error, Result};

/// The row after a step: from the row before it, if there is one, and the step.
pub type MergeStep = fn(Option<&[u8]>, &[u8]) -> Vec<u8>;

/// A table of an engine.
#[derive(Debug)]
pub struct Family {
    /// Its name, of its column family in RocksDB.
    pub name: &'static str,
    /// Its place among all families.
    pub place: usize,
    /// How it is read and written.
    pub access: Access,
    /// The steps that its rows take.
    pub steps: Steps,
    /// The compression of its blocks.
    pub compression: Compression,
    /// Whether its write buffers are large: a table that takes many bytes a second.
    pub is_large: bool,
    /// Whether its keys begin with an id, most look-ups are for new ids, and these are above all others: its greatest key is kept
    /// in memory.
    pub is_rising: bool,
    /// Whether most look-ups that reach it are for new keys.
    pub misses: bool,
    /// Whether a start may drop a damaged one: whoever opened it makes it anew.
    pub can_be_dropped: bool,
}

/// The pattern of reads and writes of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Single rows by their whole key.
    Point,
    /// Scans inside a partition, whose first eight bytes are an id.
    Scan,
    /// Both.
    PointAndScan,
    /// Written once, read at start, deleted soon.
    Queue,
    /// Written at one end, read in order, deleted at the other end, many rows at once.
    Log,
}

/// The steps that the engine merges into the rows of a table.
#[derive(Debug, Clone, Copy)]
pub enum Steps {
    /// There are none.
    None,
    /// Each is added to a sum; a sum of nothing but zero bytes is dropped. The steps of changes that are not written yet are
    /// merged, too.
    Sums(MergeStep),
    /// As [`Steps::Sums`], with many steps for one row: a read merges few of them.
    ManySums(MergeStep),
    /// By [`Schema::merge`]. They come in large numbers, so a compaction waits for many files.
    Merged,
}

/// The compression of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Of rows that cannot be compressed.
    None,
    /// Fast.
    Lz4,
    /// Fast; small at the bottom level, which has most rows.
    ZstdAtBottom,
    /// Small.
    Zstd,
}

impl Family {
    /// A table without steps, with the usual treatment.
    pub const fn new(name: &'static str, access: Access) -> Self {
        Self {
            name,
            place: usize::MAX,
            access,
            steps: Steps::None,
            compression: Compression::Lz4,
            is_large: false,
            is_rising: false,
            misses: false,
            can_be_dropped: false,
        }
    }

    /// The filter of its compactions, if it has one.
    pub(crate) fn filter(&self, schema: &dyn Schema) -> Option<Filter> {
        // As a missing row is. The engine asks for whole sums only: steps that a compaction adds up leave in the next one.
        let no_sum = || -> Filter { Box::new(|| Box::new(|_, sum| sum.iter().any(|byte| *byte != 0))) };
        schema.filter(self).or_else(|| self.sum().map(|_| no_sum()))
    }

    /// The merge of one step into a sum.
    pub(crate) fn sum(&self) -> Option<MergeStep> {
        match self.steps {
            Steps::Sums(merge) | Steps::ManySums(merge) => Some(merge),
            Steps::None | Steps::Merged => None,
        }
    }

    /// A row with a step of a change that is not written yet.
    pub(crate) fn merged(&self, present: Option<&[u8]>, step: &[u8]) -> Result<Vec<u8>> {
        let merge = self.sum().ok_or_else(|| Error::Corrupt(format!("a merge of a staged row of {self}")))?;
        Ok(merge(present, step))
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

// Places are unique.
impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Family {}

/// Whether a compaction keeps a row. Gets the rows of one compaction, or of one of its parts, in the order of their keys.
pub type Keeps = Box<dyn FnMut(&[u8], &[u8]) -> bool>;

/// Makes one for each compaction, or for each of its parts, which runs on one thread. Several threads may make some at once.
pub type Filter = Box<dyn Fn() -> Keeps + Send + Sync>;

/// The tables of an engine, and how their rows change by themselves. Nothing of it may block.
pub trait Schema: Send + Sync {
    /// All tables, each at its place.
    fn families(&self) -> &[&'static Family];

    /// The filter of the compactions of a table, if it has one.
    fn filter(&self, family: &Family) -> Option<Filter>;

    /// A row of a table of [`Steps::Merged`] after some steps, the oldest first.
    fn merge(&self, present: Option<&[u8]>, steps: &[&[u8]]) -> Vec<u8>;

    /// Steps of such a table in one.
    fn join(&self, steps: &[&[u8]]) -> Vec<u8>;
}
