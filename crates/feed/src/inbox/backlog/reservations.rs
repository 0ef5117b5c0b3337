//! The bound on how many jobs may wait.

use std::time::Duration;

use super::{Backlog, JobReservation};

impl Backlog {
    /// Room for `n` more jobs; waits for it.
    pub fn reserve_waiting(&self, n: usize) -> JobReservation<'_> {
        self.room.take(n)
    }

    /// Room for `n` more jobs, even if there is none: for a caller that has waited for it before, or needs none.
    pub(crate) fn reserve_in_any_case(&self, n: usize) -> JobReservation<'_> {
        self.room.force(n)
    }

    /// Waits until there is room for `n` more jobs, at most for `timeout`. Returns whether there was.
    pub fn wait_for_room(&self, n: usize, timeout: Duration) -> bool {
        self.room.wait_for(n, timeout)
    }

    /// Jobs under way, also those for which room is reserved.
    pub fn len(&self) -> usize {
        self.room.fill().used as usize
    }

    /// Waits until nothing is under way, at most for `timeout`. Returns whether that is so.
    pub fn wait_until_empty(&self, timeout: Duration) -> bool {
        self.room.wait_until_empty(timeout)
    }
}
