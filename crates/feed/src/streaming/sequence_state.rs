//! The state from which times, ids and numbers of events follow.

use super::ids::IdMaker;
use super::times::{Times, TimesCourse};
use model::{ContentId, Cursor, Millis};

/// All that the next times, made ids and numbers of events depend on. Two servers with equal courses that make the same
/// changes at the same times give the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceState {
    pub(super) times: TimesCourse,
    pub(super) last_id: u64,
    pub(super) next: u64,
    pub(super) top: Millis,
}

impl SequenceState {
    /// The course of a server without changes, for changes from this time on.
    pub fn new(at: Millis) -> Self {
        Self { times: Times::new(at).course, last_id: IdMaker::new(at).last(), next: 1, top: at }
    }

    /// This state as numbers.
    pub fn numbers(&self) -> [u64; 8] {
        let TimesCourse { at, last, steps, filled } = self.times;
        [at, last.at, last.id.get(), steps, filled, self.last_id, self.next, self.top]
    }

    /// Reads [`SequenceState::numbers`]; `None` if they are not a course.
    pub fn of([at, last_at, id, steps, filled, last_id, next, top]: [u64; 8]) -> Option<Self> {
        let last = Cursor { at: last_at, id: ContentId::new(id).ok()? };
        Some(Self { times: TimesCourse { at, last, steps, filled }, last_id, next, top })
    }
}
