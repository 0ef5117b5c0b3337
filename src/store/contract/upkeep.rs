//! Looking after the whole.

use crate::error::Result;
use crate::model::UserId;
use crate::store::{Store, TableStats, Usage, Watch};

/// Looking after the whole.
impl Store {
    /// Up to `limit` users with ids above `after` of whom anything is kept that others must agree with: an
    /// inbox, an own page, a follow, a mute or a hide on either side, a count. Ascending.
    pub fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.users_after(after, limit))
    }

    /// Compares all that is kept in more than one place, but for inboxes, and everything counted with what
    /// it counts: a line for each disagreement, in no order to rely on. Nobody may write meanwhile. Walks
    /// over every table some times, in bounded memory.
    pub fn audit(&self, watch: &mut dyn Watch) -> Result<()> {
        dispatch!(self, s => s.audit(watch))
    }

    /// Makes every write so far durable, whatever the settings say.
    pub fn sync(&self) -> Result<()> {
        dispatch!(self, s => s.sync())
    }

    /// Rewrites all tables, which drops what is deleted or below a floor.
    pub fn compact(&self) -> Result<()> {
        dispatch!(self, s => s.compact())
    }

    /// Rows and bytes of each table, as far as the engine knows without counting.
    pub fn stats(&self) -> Result<Vec<TableStats>> {
        dispatch!(self, s => s.stats())
    }

    /// Whether the store has stopped taking changes, and will not before it is opened again. Reads go on. Does not
    /// look at the disk, and waits for nothing.
    pub fn needs_restart(&self) -> bool {
        dispatch!(self, s => s.needs_restart())
    }

    /// What memory and disk the store takes, with [`Store::stats`]. May look at the disk.
    pub fn usage(&self) -> Result<Usage> {
        dispatch!(self, s => s.usage())
    }
}
