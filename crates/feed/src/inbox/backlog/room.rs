//! The bound on how many jobs may wait.

use std::time::Duration;

use super::Backlog;
use model::Fill;
use model::sync::atomic::{AtomicUsize, Ordering};
use model::sync::{Condvar, Mutex, MutexGuard};

/// Counts jobs against a capacity.
#[derive(Debug)]
pub(super) struct Counter {
    capacity: usize,
    used: Mutex<usize>,
    /// Threads that wait for room; changed under the lock.
    waiting: AtomicUsize,
    freed: Condvar,
    emptied: Condvar,
}

/// Room for some jobs; unused room is given back on drop.
#[derive(Debug)]
pub struct JobReservation<'a> {
    counter: &'a Counter,
    left: usize,
}

impl Counter {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            used: Mutex::new(0),
            waiting: AtomicUsize::new(0),
            freed: Condvar::new(),
            emptied: Condvar::new(),
        }
    }

    /// More than the whole capacity fits if nothing is used: else it could never pass. Nothing always fits.
    fn fits(&self, used: usize, n: usize, capacity: usize) -> bool {
        used == 0 || n == 0 || used.saturating_add(n) <= capacity
    }

    fn used(&self) -> MutexGuard<'_, usize> {
        self.used.lock()
    }

    /// Waits until there is room for `n` more, at most for a time.
    fn wait(&self, n: usize, timeout: Option<Duration>) -> MutexGuard<'_, usize> {
        let mut used = self.used();
        let is_full = |used: &mut usize| !self.fits(*used, n, self.capacity);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        match timeout {
            Some(timeout) => _ = self.freed.wait_while_for(&mut used, is_full, timeout),
            None => self.freed.wait_while(&mut used, is_full),
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        used
    }

    fn room(&self, mut used: MutexGuard<'_, usize>, n: usize) -> JobReservation<'_> {
        *used += n;
        JobReservation { counter: self, left: n }
    }

    pub(super) fn try_take(&self, n: usize) -> Option<JobReservation<'_>> {
        let used = self.used();
        self.fits(*used, n, self.capacity).then(|| self.room(used, n))
    }

    /// None while others wait for room: else it could take all that comes free.
    pub(super) fn try_take_low(&self, n: usize) -> Option<JobReservation<'_>> {
        let used = self.used();
        if self.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        self.fits(*used, n, self.capacity / 2).then(|| self.room(used, n))
    }

    /// Takes room even if there is none: for jobs that exist already.
    pub(super) fn force(&self, n: usize) -> JobReservation<'_> {
        self.room(self.used(), n)
    }

    pub(super) fn give_back(&self, n: usize) {
        let mut used = self.used();
        *used = used.saturating_sub(n);
        // Not for each place: waiting threads are woken only while an eighth of the capacity is free.
        if *used <= self.capacity - self.capacity / 8 {
            self.freed.notify_all();
        }
        if *used == 0 {
            self.emptied.notify_all();
        }
    }

    pub(super) fn fill(&self) -> Fill {
        Fill::of(*self.used(), self.capacity)
    }
}

impl Backlog {
    /// Room for `n` more jobs; waits for it.
    pub fn reserve_waiting(&self, n: usize) -> JobReservation<'_> {
        self.room.room(self.room.wait(n, None), n)
    }

    /// Room for `n` more jobs, even if there is none: for a caller that has waited for it before, or needs none.
    pub(crate) fn reserve_in_any_case(&self, n: usize) -> JobReservation<'_> {
        self.room.force(n)
    }

    /// Waits until there is room for `n` more jobs, at most for `timeout`. Returns whether there was.
    pub fn wait_for_room(&self, n: usize, timeout: Duration) -> bool {
        let used = self.room.wait(n, Some(timeout));
        self.room.fits(*used, n, self.room.capacity)
    }

    /// Jobs under way, also those for which room is reserved.
    pub fn len(&self) -> usize {
        *self.room.used()
    }

    /// Waits until nothing is under way, at most for `timeout`. Returns whether that is so.
    pub fn wait_until_empty(&self, timeout: Duration) -> bool {
        let mut used = self.room.used();
        self.room.emptied.wait_while_for(&mut used, |used| *used > 0, timeout);
        *used == 0
    }
}

impl JobReservation<'_> {
    /// Hands one place over to a job, which gives it back when it ends.
    pub(super) fn use_one(&mut self) {
        debug_assert!(self.left > 0, "a job has no reserved place");
        self.left = self.left.saturating_sub(1);
    }
}

impl Drop for JobReservation<'_> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.counter.give_back(self.left);
        }
    }
}
