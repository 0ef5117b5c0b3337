//! A group of changes. Each stands on those before it, and others see none before all are on the device.

use super::staged::Staged;
use crate::batch::WriteBatch;
use model::error::{Error, Result};

/// The rest of a change, once it is written, or has failed.
pub(crate) type After = Box<dyn FnOnce(bool) + Send>;

/// The changes that are not written yet.
#[derive(Default)]
pub(crate) struct Group {
    /// Their rows, for reads of later ones.
    pub(crate) staged: Staged,
    pub(crate) rest: Vec<After>,
    /// How many of the rest are of changes that have ended.
    ended: usize,
    /// Whether one of them acknowledges.
    pub(crate) sync: bool,
    /// Set if they must not be written.
    pub(crate) failed: Option<Error>,
}

impl Group {
    /// Puts rows of the present change on top. Gives `after` back if they cannot be.
    pub(crate) fn add(&mut self, rows: WriteBatch, sync: bool, after: After) -> Result<(), (Error, After)> {
        if let Err(error) = self.staged.add(rows) {
            return Err((error, after));
        }
        self.sync |= sync;
        self.rest.push(after);
        Ok(())
    }

    /// Ends the present change. Nothing of it stays if it is not made: its rest is returned, to be ended.
    pub(crate) fn end_change(&mut self, is_made: bool) -> Vec<After> {
        if is_made {
            self.staged.keep();
            self.ended = self.rest.len();
            return Vec::new();
        }
        self.staged.take_back();
        self.rest.split_off(self.ended)
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.failed.is_none()
    }
}

/// Ends changes. Of those that are not written the last one comes first, so that each leaves what was there before it.
pub(crate) fn end(mut rest: Vec<After>, is_written: bool) {
    if !is_written {
        rest.reverse();
    }
    rest.into_iter().for_each(|after| after(is_written));
}
