//! Authors' unpushed items, in memory beside their table.

use std::collections::hash_map::Entry as Slot;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::HashMap;
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
use rocksdb::{ReadOptions, WriteBatch};

use crate::rows::tables::UNPUSHED;
use crate::rows::{keys, values};
use crate::{Rocks, storage};
use model::error::{Error, Result};
use model::store::{Activities, Tier};
use model::stripes::Striped;
use model::{Entry, Fill, Reach, Unpushed, UserId};

/// Most authors kept in memory, at about 100 bytes each. An author is one of them only after having more than
/// `push_threshold` followers, or after a lack of room for jobs on a node of a cluster.
const CAPACITY: usize = 1_000_000;

/// Rows of `unpushed`, written through and never evicted, so no row is older than the table.
#[derive(Default)]
pub(crate) struct UnpushedRows {
    rows: RwLock<HashMap<UserId, Unpushed>>,
    /// Rows that did not fit. If there are any, an author missing here may have a row.
    left_out: AtomicU64,
    /// For rows that are read before they are written.
    turns: Striped<Mutex<()>>,
}

/// Rows of some authors that rise in a change. No other change of theirs comes meanwhile.
#[must_use]
pub(crate) struct Raise<'a> {
    rows: &'a UnpushedRows,
    raised: HashMap<UserId, Unpushed>,
    _turns: Vec<MutexGuard<'a, ()>>,
}

/// A locked view of the rows, for many authors.
pub(crate) struct Look<'a> {
    rows: RwLockReadGuard<'a, HashMap<UserId, Unpushed>>,
    overflowed: bool,
}

impl UnpushedRows {
    /// Reads the table.
    pub(crate) fn fill(&self, store: &Rocks) -> Result<()> {
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
    pub(crate) fn set(&self, author: UserId, unpushed: Unpushed) {
        let mut rows = self.rows.write();
        if rows.len() < CAPACITY || rows.contains_key(&author) {
            rows.insert(author, unpushed);
        } else {
            self.left_out.fetch_add(1, Ordering::Release);
        }
    }

    /// The number of rows here, and how often one did not fit.
    pub(crate) fn usage(&self) -> (Fill, u64) {
        let rows = self.rows.read().len();
        (Fill::of(rows, CAPACITY), self.left_out.load(Ordering::Relaxed))
    }

    pub(crate) fn look(&self) -> Look<'_> {
        let rows = self.rows.read();
        Look { rows, overflowed: self.left_out.load(Ordering::Acquire) > 0 }
    }
}

impl Look<'_> {
    /// The row of an author; `None` if only the table has the answer.
    pub(crate) fn of(&self, author: UserId) -> Option<Unpushed> {
        match self.rows.get(&author) {
            None if self.overflowed => None,
            row => Some(row.copied().unwrap_or_default()),
        }
    }
}

impl Raise<'_> {
    /// Shows the rows to reads. To be called once the change is written, before anything tells of its items.
    pub(crate) fn written(self) {
        self.raised.into_iter().for_each(|(author, unpushed)| self.rows.set(author, unpushed));
    }
}

impl Rocks {
    /// Adds to a change that these items do not reach all followers, if that is so.
    pub(crate) fn put_unpushed(&self, change: &mut WriteBatch, items: &[Entry], reach: Reach) -> Result<Raise<'_>> {
        let items = if reach == Reach::All { &[] } else { items };
        let turns = self.unpushed.turns.many(items.iter().map(|item| item.author.get()), Mutex::lock);
        let mut raised = HashMap::<UserId, Unpushed>::default();
        for Entry { cursor, author } in items {
            let unpushed = match raised.entry(*author) {
                Slot::Occupied(slot) => slot.into_mut(),
                Slot::Vacant(slot) => slot.insert(self.unpushed(*author, Tier::Disk)?),
            };
            let place = if reach == Reach::Nobody { &mut unpushed.to_nobody } else { &mut unpushed.to_active };
            *place = (*place).max(Some(*cursor));
        }
        for (author, unpushed) in &raised {
            change.put_cf(self.family(UNPUSHED)?, keys::id(author.get()), values::unpushed(*unpushed));
        }
        Ok(Raise { rows: &self.unpushed, raised, _turns: turns })
    }
}
