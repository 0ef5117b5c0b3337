//! One change of an item after the other.

use crate::model::ContentId;
use crate::sync::{Mutex, MutexGuard};

const STRIPES: usize = 1024;

/// Has the edits, deletes and restores of an item take turns, so that streams are told of them in the
/// order in which they were written.
#[derive(Debug)]
pub(super) struct Turns(Box<[Mutex<()>]>);

impl Default for Turns {
    fn default() -> Self {
        Self((0..STRIPES).map(|_| Mutex::default()).collect())
    }
}

impl Turns {
    /// Waits for the turn, which lasts until the result is dropped.
    pub(super) fn take(&self, id: ContentId) -> MutexGuard<'_, ()> {
        let index = (id.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % STRIPES;
        self.0[index].lock()
    }
}
