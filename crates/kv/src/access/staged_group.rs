//! A group of changes. Each stands on those before it, and others see none before all are on the device.

use super::staged::Staged;
use crate::batch::WriteBatch;
use model::error::{Error, Result};
use model::failpoint::Write;

/// The changes that are not written yet.
#[derive(Default)]
pub(crate) struct Group {
    /// Their rows, for reads of later ones.
    pub(crate) staged: Staged,
    /// The kinds of their writes.
    pub(crate) writes: Vec<Option<Write>>,
    /// The number of these that are of changes that have ended.
    ended: usize,
    /// Whether one of them acknowledges.
    pub(crate) sync: bool,
    /// Set if they must not be written.
    pub(crate) failed: Option<Error>,
}

impl Group {
    /// Puts rows of the present change on top.
    pub(crate) fn add(&mut self, what: Option<Write>, rows: WriteBatch, sync: bool) -> Result<()> {
        self.staged.add(rows)?;
        self.sync |= sync;
        self.writes.push(what);
        Ok(())
    }

    /// Ends the present change. Nothing of it stays if it is not made.
    pub(crate) fn end_change(&mut self, is_made: bool) {
        if is_made {
            self.staged.keep();
            self.ended = self.writes.len();
        } else {
            self.staged.take_back();
            self.writes.truncate(self.ended);
        }
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.failed.is_none()
    }
}
