//! The state from which times, ids and numbers of events follow.

use serde::{Deserialize, Serialize};

use model::{ContentId, Cursor, InvalidId, Millis};

/// All that the next times, made ids and numbers of events depend on. Two servers with equal states that make the same
/// changes at the same times give the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "[u64; 8]", try_from = "[u64; 8]")]
pub struct SequenceState {
    /// The latest time given, or taken for an event.
    pub(crate) at: Millis,
    /// The greatest cursor given, or of an item with a time of the application that had come.
    pub(super) last: Cursor,
    /// Times may still be a millisecond later this many times at once.
    pub(super) steps: u64,
    /// The time since boot up to which the stock of steps is filled.
    pub(super) filled: Millis,
    /// The last made id.
    pub(super) last_id: u64,
    /// The number of the next event.
    pub(super) next: u64,
    /// The latest time in any event so far.
    pub(super) top: Millis,
}

impl From<SequenceState> for [u64; 8] {
    fn from(state: SequenceState) -> Self {
        let SequenceState { at, last, steps, filled, last_id, next, top } = state;
        [at, last.at, last.id.get(), steps, filled, last_id, next, top]
    }
}

impl TryFrom<[u64; 8]> for SequenceState {
    type Error = InvalidId;

    fn try_from([at, last_at, id, steps, filled, last_id, next, top]: [u64; 8]) -> Result<Self, InvalidId> {
        let last = Cursor { at: last_at, id: ContentId::new(id)? };
        Ok(Self { at, last, steps, filled, last_id, next, top })
    }
}
