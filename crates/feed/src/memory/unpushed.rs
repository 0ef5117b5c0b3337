//! Authors' unpushed items in memory: the whole table.

use foldhash::HashMap;
use parking_lot::{Mutex, MutexGuard};

use super::mirror::Mirror;
use model::stripes::Striped;
use model::{Unpushed, UserId};

/// Most authors kept in memory, at about 100 bytes each. An author is one of them only after having more than
/// `push_threshold` followers, or after a lack of room for jobs on a node of a cluster.
const CAPACITY: usize = 1_000_000;

/// The rows of `unpushed`, written through. A read looks up several authors at once, so there is one shard.
pub(crate) struct UnpushedRows {
    pub(crate) rows: Mirror<Unpushed, 1>,
    /// For rows that are read before they are written.
    pub(crate) turns: Striped<Mutex<()>>,
}

impl Default for UnpushedRows {
    fn default() -> Self {
        Self { rows: Mirror::new(CAPACITY), turns: Striped::default() }
    }
}

/// Rows of some authors that rise in a change. No other change of theirs comes meanwhile.
#[must_use]
pub(crate) struct Raise<'a> {
    pub(crate) rows: &'a UnpushedRows,
    pub(crate) raised: HashMap<UserId, Unpushed>,
    pub(crate) _turns: Vec<MutexGuard<'a, ()>>,
}

impl Raise<'_> {
    /// Shows the rows to reads. To be called once the change is written, before anything tells of its items.
    pub(crate) fn written(self) {
        self.raised.into_iter().for_each(|(author, unpushed)| self.rows.rows.set(author, unpushed));
    }
}
