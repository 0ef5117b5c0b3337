//! A group of changes. Each stands on those before it, and others see none before all are on the device.

use super::staged::Staged;
use crate::batch::{Change, WriteBatch};
use crate::family::Family;
use model::error::{Error, Result};
use model::failpoint;
use model::failpoint::Write;

/// The rest of a change, once it is written, or has failed.
pub(crate) type After = Box<dyn FnOnce(bool) + Send>;

/// The changes that are not written yet.
#[derive(Default)]
pub(crate) struct Group {
    /// Their rows, for reads of later ones.
    pub(crate) staged: Staged,
    rest: Vec<(Option<Write>, After)>,
    /// How many of the rest are of changes that have ended.
    ended: usize,
    /// Whether one of them acknowledges.
    pub(crate) sync: bool,
    /// Set if they must not be written.
    pub(crate) failed: Option<Error>,
}

impl Group {
    /// Puts rows of the present change on top. Gives `after` back if they cannot be.
    pub(crate) fn add(
        &mut self,
        what: Option<Write>,
        rows: WriteBatch,
        sync: bool,
        after: After,
    ) -> Result<(), (Error, After)> {
        if let Err(error) = self.staged.add(rows) {
            return Err((error, after));
        }
        self.sync |= sync;
        self.rest.push((what, after));
        Ok(())
    }

    /// Ends the present change. Nothing of it stays if it is not made: its rest is returned, to be given up.
    pub(crate) fn end_change(&mut self, is_made: bool) -> Rest {
        if is_made {
            self.staged.keep();
            self.ended = self.rest.len();
            return Rest::default();
        }
        self.staged.take_back();
        Rest(self.rest.split_off(self.ended))
    }

    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty() && self.failed.is_none()
    }

    /// All changes of rows.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&'static Family, Change<'_>)> {
        self.staged.changes()
    }

    pub(crate) fn into_rest(self) -> Rest {
        Rest(self.rest)
    }
}

/// The rests of some changes.
#[derive(Default)]
pub(crate) struct Rest(Vec<(Option<Write>, After)>);

impl Rest {
    /// Ends changes that are written.
    pub(crate) fn written(self) {
        self.0.into_iter().for_each(|(what, after)| end(what, after, true));
    }

    /// Ends changes that are not written, the last one first, so that each leaves what was there before it.
    pub(crate) fn give_up(self) {
        self.0.into_iter().rev().for_each(|(what, after)| end(what, after, false));
    }
}

/// Ends a change.
pub(crate) fn end(what: Option<Write>, after: After, is_written: bool) {
    after(is_written);
    if let Some(what) = what.filter(|_| is_written) {
        failpoint::end(what);
    }
}
