//! Writes that the device has not answered yet, by which a stalled device is recognised: its file system may be frozen.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A device on which a write takes longer is stalled. Long in tests, for a busy machine.
const STALL: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 500 });
/// Most optional writes at once: a quarter of the threads that read.
const MOST_OPTIONAL: u64 = 32;

/// The writes under way.
pub(crate) struct Writes {
    started: Instant,
    under_way: AtomicU64,
    /// When the first of them began or the last one ended, in milliseconds since the start.
    progress: AtomicU64,
    /// Optional writes under way, or about to begin.
    optional: AtomicU64,
}

/// A write in the hands of the engine.
#[must_use = "the write ends when this is dropped"]
pub(crate) struct Writing<'a>(&'a Writes);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.progress.store(self.0.now(), Ordering::SeqCst);
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An optional write, from before its locks.
#[must_use = "it ends when this is dropped"]
pub(crate) struct Optional<'a>(&'a Writes);

impl Drop for Optional<'_> {
    fn drop(&mut self) {
        self.0.optional.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Writes {
    pub(super) fn new() -> Self {
        let (under_way, progress, optional) = Default::default();
        Self { started: Instant::now(), under_way, progress, optional }
    }

    fn now(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    /// Begins a write; it ends when the result is dropped.
    pub(super) fn begin(&self) -> Writing<'_> {
        // The time first: a thread that sees the write also sees when it began.
        if !self.are_under_way() {
            self.progress.store(self.now(), Ordering::SeqCst);
        }
        self.under_way.fetch_add(1, Ordering::SeqCst);
        Writing(self)
    }

    /// Begins an optional write; `None` if it had better be left out.
    pub(crate) fn begin_optional(&self) -> Option<Optional<'_>> {
        let before = self.optional.fetch_add(1, Ordering::SeqCst);
        let optional = Optional(self);
        (before < MOST_OPTIONAL && !self.is_stalled()).then_some(optional)
    }

    pub(super) fn are_under_way(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) > 0
    }

    /// Whether the device has taken no write for a while.
    fn is_stalled(&self) -> bool {
        let since = self.now().saturating_sub(self.progress.load(Ordering::SeqCst));
        self.are_under_way() && since > STALL.as_millis() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_takes_no_write_for_a_while_stalls() {
        // Started long ago, so that the last progress can be put back instead of a wait.
        let started = Instant::now().checked_sub(5 * STALL).expect("a time");
        let writes = Writes { started, ..Writes::new() };
        let wait = || writes.progress.fetch_sub(STALL.as_millis() as u64 + 1, Ordering::SeqCst);
        assert!(!writes.is_stalled());
        let [first, second] = [writes.begin(), writes.begin()];
        assert!(!writes.is_stalled(), "they have only begun");
        wait();
        assert!(writes.is_stalled() && writes.begin_optional().is_none());
        drop(first);
        assert!(!writes.is_stalled(), "it takes some");
        drop(second);
        wait();
        assert!(!writes.is_stalled(), "nothing waits");
    }
}
