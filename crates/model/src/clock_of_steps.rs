//! The clock of `clock` for shuttle: it advances by one at each reading, so that a schedule decides who becomes dormant.

use std::cell::Cell;

use crate::Millis;

// One thread of the system runs all threads of an execution.
thread_local!(static NOW: Cell<Millis> = const { Cell::new(0) });

/// One more than before.
pub fn now() -> Millis {
    NOW.set(NOW.get() + 1);
    NOW.get()
}

/// As [`now`].
pub fn latest() -> Millis {
    now()
}

/// The last time that was read.
pub fn uptime() -> Millis {
    NOW.get()
}

/// Begins anew, for the next schedule.
pub fn reset() {
    NOW.set(1000);
}
