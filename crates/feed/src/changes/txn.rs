//! What a change is applied to.

use std::fmt;

use crate::Feed;
use crate::streaming::ChangeTime;

/// The state and the time for some changes, and the rest of them: all that comes once their rows are written.
pub struct Txn<'f> {
    /// The service; its store has the rows of the changes before.
    pub feed: &'f Feed,
    /// The time of the changes.
    pub at: ChangeTime,
    rest: Vec<Box<dyn FnOnce(bool) + 'f>>,
}

impl fmt::Debug for Txn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Txn").field("at", &self.at).field("rest", &self.rest.len()).finish_non_exhaustive()
    }
}

impl<'f> Txn<'f> {
    /// Without changes.
    pub fn new(feed: &'f Feed, at: ChangeTime) -> Self {
        Self { feed, at, rest: Vec::new() }
    }

    /// How many steps there are.
    pub(crate) fn steps(&self) -> usize {
        self.rest.len()
    }

    /// Takes back the steps of a change that is refused.
    pub(crate) fn take_back(&mut self, before: usize) {
        self.rest.drain(before..).for_each(|step| step(false));
    }

    /// Adds a step that comes once the rows are written.
    pub(crate) fn once_written(&mut self, step: impl FnOnce() + 'f) {
        self.rest.push(Box::new(move |is_written| {
            if is_written {
                step();
            }
        }));
    }

    /// Keeps a guard until the rows are written, or have failed.
    pub(crate) fn keep(&mut self, guard: impl Sized + 'f) {
        self.rest.push(Box::new(move |_| drop(guard)));
    }

    /// Ends the changes, whose rows are written or have failed: their steps come in order.
    pub fn end(self, is_written: bool) {
        self.rest.into_iter().for_each(|step| step(is_written));
    }
}
