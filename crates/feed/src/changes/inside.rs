//! Tells when all changes that had begun are over.

use model::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often a wait looks.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// Counts the changes under way, in two sets: while one of them is waited for, new changes enter the other.
#[derive(Debug)]
pub(crate) struct Inside {
    turn: AtomicUsize,
    sets: [AtomicU64; 2],
}

impl Default for Inside {
    fn default() -> Self {
        Self { turn: AtomicUsize::new(0), sets: [AtomicU64::new(0), AtomicU64::new(0)] }
    }
}

/// A change that is under way until this is dropped.
#[must_use = "the change is over when this is dropped"]
pub(crate) struct Entered<'a>(&'a AtomicU64);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Inside {
    /// A change begins. What it reads after this call comes after all that was written before a wait that does not wait for
    /// it.
    pub(crate) fn enter(&self) -> Entered<'_> {
        let set = &self.sets[self.turn.load(Ordering::SeqCst) % 2];
        set.fetch_add(1, Ordering::SeqCst);
        Entered(set)
    }

    /// Waits until all changes that have entered before are over, or until `stops`; false if it stopped.
    pub(crate) fn wait(&self, stops: impl Fn() -> bool) -> bool {
        // A change may have looked for its set before the first turn, and enter it after.
        for _ in 0..2 {
            let before = self.turn.fetch_add(1, Ordering::SeqCst) % 2;
            while self.sets[before].load(Ordering::SeqCst) > 0 {
                if stops() {
                    return false;
                }
                thread::sleep(LOOK_EVERY);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_waits_for_changes_before_it_alone() {
        let inside = Inside::default();
        let first = inside.enter();
        assert!(!inside.wait(|| true), "the first is under way");
        thread::scope(|threads| {
            let waiting = threads.spawn(|| inside.wait(|| false));
            thread::sleep(Duration::from_millis(20));
            let second = inside.enter();
            assert!(!waiting.is_finished());
            drop(first);
            drop(second);
            assert!(waiting.join().expect("ends"));
        });
    }
}
