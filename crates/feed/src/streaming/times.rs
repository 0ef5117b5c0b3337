//! The times that the server gives.
//!
//! Cursors made of them rise, whatever the clock and the ids do. If the time is the same and the id is not greater, the
//! time is a millisecond later: a *step*. There is one step for each millisecond that passes, and a stock of them, so that
//! times do not run away from the clock.

use super::ids;
use super::sequence_state::SequenceState;
use model::{ContentId, Cursor, Millis};

/// Most steps at once; so times run at most this many milliseconds ahead of the clock.
const MOST_STEPS: u64 = 10_000;
/// How far the clock may be behind the times given without a warning, milliseconds.
pub(super) const FAR: Millis = 15_000;

/// No step is left; there will be one within milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowded;

impl SequenceState {
    /// The state of a server without changes, for changes from this time on.
    pub fn new(at: Millis) -> Self {
        let last = Cursor { at, id: ContentId::MIN };
        Self { at, last, steps: MOST_STEPS, filled: 0, last_id: ids::first(at), next: 1, top: at }
    }

    /// Follows the clock, never back. Returns by how much the clock is behind.
    pub(super) fn look(&mut self, now: Millis, uptime: Millis) -> Millis {
        self.at = self.at.max(now);
        self.steps = self.steps.saturating_add(uptime.saturating_sub(self.filled)).min(MOST_STEPS);
        self.filled = self.filled.max(uptime);
        self.at - now
    }

    /// Whether an item with this id needs a step, and there is none.
    pub(super) fn is_crowded(&self, id: u64) -> bool {
        self.steps == 0 && (self.at, id) <= (self.last.at, self.last.id.get())
    }

    /// The smallest cursor that may be given from now on, if no time before `from` is given.
    pub(super) fn next_cursor(&self, from: Millis) -> Cursor {
        let first = Cursor { at: self.at.max(from), id: ContentId::MIN };
        self.last.next_newer().map_or(first, |next| next.max(first))
    }

    /// Lets the cursor of an item with a time of the application take its place among those given: later ones are above it. Not
    /// if its time has not come yet.
    pub(super) fn pass(&mut self, cursor: Cursor) {
        if cursor.at <= self.at {
            self.last = self.last.max(cursor);
        }
    }

    /// One time for all items of a call, which have this smallest and greatest id. So their order is that of their ids.
    pub(super) fn give(&mut self, smallest: ContentId, greatest: ContentId) -> Result<Millis, Crowded> {
        if (Cursor { at: self.at, id: smallest }) <= self.last {
            self.steps = self.steps.checked_sub(1).ok_or(Crowded)?;
            self.at += 1;
        }
        self.last = Cursor { at: self.at, id: greatest };
        Ok(self.at)
    }
}
