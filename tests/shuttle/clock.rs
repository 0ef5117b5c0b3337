//! A clock that advances by one at each reading, so that a schedule decides which users become dormant.

use std::cell::Cell;

use crate::model::Millis;

// One thread of the system runs all threads of an execution.
thread_local!(static NOW: Cell<Millis> = const { Cell::new(0) });

pub(crate) fn now() -> Millis {
    NOW.set(NOW.get() + 1);
    NOW.get()
}

pub(crate) fn reset() {
    NOW.set(1000);
}

pub(crate) fn latest() -> Millis {
    now()
}

pub(crate) fn uptime() -> Millis {
    NOW.get()
}
