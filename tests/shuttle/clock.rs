//! A clock that goes on by one at each look, so that a schedule decides who lapses.

use std::cell::Cell;

use crate::model::Millis;

// The threads of one execution are all run by one thread of the system.
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
