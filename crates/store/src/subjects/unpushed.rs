//! Authors' unpushed items: a table that is in memory as a whole.

use std::collections::hash_map::Entry as Slot;

use foldhash::HashMap;
use parking_lot::{Mutex, MutexGuard};

use crate::Store;
use crate::memory::mirror::Mirror;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::UNPUSHED;
use crate::rows::{keys, values};
use model::error::Result;
use model::store::Tier;
use model::stripes::Striped;
use model::{Entry, Reach, Unpushed, UserId};

/// Most authors kept in memory, at about 100 bytes each. An author is one of them only after having more than
/// `push_threshold` followers, or after a lack of room for jobs on a node of a cluster.
const CAPACITY: usize = 1_000_000;

/// The rows of `unpushed`, written through. A read looks up several authors at once, so there is one shard.
pub(crate) struct UnpushedRows {
    pub(crate) rows: Mirror<Unpushed, 1>,
    /// For rows that are read before they are written.
    turns: Striped<Mutex<()>>,
}

impl Default for UnpushedRows {
    fn default() -> Self {
        Self { rows: Mirror::new(CAPACITY), turns: Striped::default() }
    }
}

/// Rows of some authors that rise in a change. No other change of theirs comes meanwhile.
#[must_use]
pub(crate) struct Raise<'a> {
    rows: &'a UnpushedRows,
    raised: HashMap<UserId, Unpushed>,
    _turns: Vec<MutexGuard<'a, ()>>,
}

impl Raise<'_> {
    /// Shows the rows to reads. To be called once the change is written, before anything tells of its items.
    pub(crate) fn written(self) {
        self.raised.into_iter().for_each(|(author, unpushed)| self.rows.rows.set(author, unpushed));
    }
}

impl Store {
    /// Adds to a change that these items do not reach all followers, if that is so.
    pub(crate) fn put_unpushed(&self, change: &mut WriteBatch, items: &[Entry], reach: Reach) -> Result<Raise<'_>> {
        let items = if reach == Reach::All { &[] } else { items };
        let turns = self.loaded.unpushed.turns.many(items.iter().map(|item| item.source.get()), Mutex::lock);
        let mut raised = HashMap::<UserId, Unpushed>::default();
        for Entry { cursor, source, .. } in items {
            let unpushed = match raised.entry(*source) {
                Slot::Occupied(slot) => slot.into_mut(),
                Slot::Vacant(slot) => slot.insert(self.unpushed(*source, Tier::Disk)?),
            };
            let place = if reach == Reach::Nobody { &mut unpushed.to_nobody } else { &mut unpushed.to_active };
            *place = (*place).max(Some(*cursor));
        }
        for (author, unpushed) in &raised {
            change.set(UNPUSHED, keys::id(author.get()), Some(values::unpushed(*unpushed)));
        }
        Ok(Raise { rows: &self.loaded.unpushed, raised, _turns: turns })
    }

    /// An author's row that is not in memory.
    pub(crate) fn stored_unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        let row = self.read(UNPUSHED, &keys::id(author.get()), tier, values::read_unpushed)?;
        Ok(row.unwrap_or_default())
    }
}
