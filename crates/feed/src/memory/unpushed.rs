//! Authors' unpushed items in memory: the whole table.

use parking_lot::Mutex;

use super::user_rows::Mirror;
use model::Unpushed;
use model::stripes::Striped;

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
