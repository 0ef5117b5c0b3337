//! The time at which the caller of a change has an answer, whatever became of the change.
//!
//! A change may wait in queues for longer than its caller does. In a cluster the caller may have made another change at
//! another node meanwhile, which the late one must not undo.

use std::cell::Cell;
use std::time::Instant;

thread_local! {
    static DUE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Does work on this thread for a caller who has an answer at this time; `None` for one who waits.
pub fn answered_at<T>(due: Option<Instant>, work: impl FnOnce() -> T) -> T {
    struct Before(Option<Instant>);
    impl Drop for Before {
        fn drop(&mut self) {
            DUE.set(self.0);
        }
    }
    let _before = Before(DUE.replace(due));
    work()
}

/// When the caller of the work under way on this thread has an answer; `None` if the caller waits.
pub fn answer_due() -> Option<Instant> {
    DUE.get()
}
