//! Authors' unpushed items, in memory beside their table.

use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::HashMap;
use parking_lot::{RwLock, RwLockReadGuard};
use rocksdb::ReadOptions;

use super::tables::UNPUSHED;
use super::{Rocks, keys, storage, values};
use crate::error::{Error, Result};
use crate::model::{Fill, Unpushed, UserId};

/// Most authors kept in memory, at about 100 bytes each. An author is one of them only after having more than
/// `push_threshold` followers.
const CAPACITY: usize = 1_000_000;

/// Rows of `unpushed`, written through and never evicted, so no row is older than the table.
#[derive(Default)]
pub(super) struct UnpushedRows {
    rows: RwLock<HashMap<UserId, Unpushed>>,
    /// Rows that did not fit. If there are any, an author missing here may have a row.
    left_out: AtomicU64,
}

/// A locked view of the rows, for many authors.
pub(super) struct Look<'a> {
    rows: RwLockReadGuard<'a, HashMap<UserId, Unpushed>>,
    overflowed: bool,
}

impl UnpushedRows {
    /// Reads the table.
    pub(super) fn fill(&self, store: &Rocks) -> Result<()> {
        let mut rows = store.db.raw_iterator_cf_opt(store.family(UNPUSHED)?, ReadOptions::default());
        rows.seek_to_first();
        while let Some((key, value)) = rows.item() {
            let author = keys::number(key).and_then(|raw| UserId::new(raw).ok());
            let author = author.ok_or_else(|| Error::Corrupt(format!("a key in {UNPUSHED}")))?;
            self.set(author, values::read_unpushed(value)?);
            rows.next();
        }
        rows.status().map_err(storage)
    }

    /// Takes over a written row.
    pub(super) fn set(&self, author: UserId, unpushed: Unpushed) {
        let mut rows = self.rows.write();
        if rows.len() < CAPACITY || rows.contains_key(&author) {
            rows.insert(author, unpushed);
        } else {
            self.left_out.fetch_add(1, Ordering::Release);
        }
    }

    /// The number of rows here, and how often one did not fit.
    pub(super) fn usage(&self) -> (Fill, u64) {
        let rows = self.rows.read().len();
        (Fill::of(rows, CAPACITY), self.left_out.load(Ordering::Relaxed))
    }

    pub(super) fn look(&self) -> Look<'_> {
        let rows = self.rows.read();
        Look { rows, overflowed: self.left_out.load(Ordering::Acquire) > 0 }
    }
}

impl Look<'_> {
    /// The row of an author; `None` if only the table has the answer.
    pub(super) fn of(&self, author: UserId) -> Option<Unpushed> {
        match self.rows.get(&author) {
            None if self.overflowed => None,
            row => Some(row.copied().unwrap_or_default()),
        }
    }
}
