//! The times that the server gives.

use model::{ContentId, Cursor, Millis};

/// Most steps at once; so times run at most this many milliseconds ahead of the clock.
const MOST_STEPS: u64 = 10_000;
/// How far the clock may be behind the times given without a warning, milliseconds.
pub(super) const FAR: Millis = 15_000;

/// Gives times such that cursors made of them rise, whatever the clock and the ids do.
///
/// If the time is the same and the id is not greater, the time is a millisecond later: a *step*. There is one step for
/// each millisecond that passes, and a stock of them, so that times do not run away from the clock.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) course: TimesCourse,
    /// Whether it was reported that the clock is behind.
    told: bool,
}

/// No step is left; there will be one within milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowded;

/// All that the next times depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimesCourse {
    /// The latest time given, or taken for an event.
    pub(super) at: Millis,
    /// The greatest cursor given, or of an item with a time of the host that had come.
    pub(super) last: Cursor,
    pub(super) steps: u64,
    /// The time since boot up to which the stock is filled.
    pub(super) filled: Millis,
}

impl Times {
    /// Gives times of `at` or later.
    pub(super) fn new(at: Millis) -> Self {
        let last = Cursor { at, id: ContentId::MIN };
        Self { course: TimesCourse { at, last, steps: MOST_STEPS, filled: 0 }, told: false }
    }

    /// Follows the clock, never back. The first time that the clock is far behind, returns by how much.
    pub(super) fn look(&mut self, now: Millis, uptime: Millis) -> Option<Millis> {
        self.course.at = self.course.at.max(now);
        self.course.steps = self.course.steps.saturating_add(uptime.saturating_sub(self.course.filled)).min(MOST_STEPS);
        self.course.filled = self.course.filled.max(uptime);
        let behind = self.course.at - now;
        if behind <= FAR {
            self.told = false;
            return None;
        }
        (!std::mem::replace(&mut self.told, true)).then_some(behind)
    }

    /// Whether an item with this id needs a step, and there is none.
    pub(super) fn is_crowded(&self, id: u64) -> bool {
        self.course.steps == 0 && (self.course.at, id) <= (self.course.last.at, self.course.last.id.get())
    }

    /// The time of an event now.
    pub(super) fn at(&self) -> Millis {
        self.course.at
    }

    /// The smallest cursor that may be given from now on, if no time before `from` is given.
    pub(super) fn next(&self, from: Millis) -> Cursor {
        let first = Cursor { at: self.course.at.max(from), id: ContentId::MIN };
        self.course.last.next_newer().map_or(first, |next| next.max(first))
    }

    /// Gives no time before this one any more.
    pub(super) fn reach(&mut self, at: Millis) {
        self.course.at = self.course.at.max(at);
    }

    /// Lets the cursor of an item with a time of the host take its place among those given: later ones are above it. Not
    /// if its time has not come yet.
    pub(super) fn pass(&mut self, cursor: Cursor) {
        if cursor.at <= self.course.at {
            self.course.last = self.course.last.max(cursor);
        }
    }

    /// One time for all items of a call, which have this smallest and greatest id. So their order is that of their ids.
    pub(super) fn give(&mut self, smallest: ContentId, greatest: ContentId) -> Result<Millis, Crowded> {
        if (Cursor { at: self.course.at, id: smallest }) <= self.course.last {
            self.course.steps = self.course.steps.checked_sub(1).ok_or(Crowded)?;
            self.course.at += 1;
        }
        self.course.last = Cursor { at: self.course.at, id: greatest };
        Ok(self.course.at)
    }
}
