//! A capacity of which parts are reserved.

use std::time::Duration;

use model::Fill;
use model::sync::atomic::{AtomicUsize, Ordering};
use model::sync::{Condvar, Mutex, MutexGuard};

/// Counts what is taken against a capacity.
#[derive(Debug)]
pub(crate) struct Capacity {
    capacity: usize,
    /// The free part at which threads that wait are woken.
    rest: usize,
    used: Mutex<usize>,
    /// Threads that wait for room; changed under the lock.
    waiting: AtomicUsize,
    freed: Condvar,
    emptied: Condvar,
}

/// Some of it; what is unused is given back on drop.
#[derive(Debug)]
pub struct Reservation<'a> {
    of: &'a Capacity,
    left: usize,
}

impl Capacity {
    /// So much room. Threads that wait for some are woken while `rest` is free.
    pub(crate) fn new(capacity: usize, rest: usize) -> Self {
        Self {
            capacity,
            rest,
            used: Mutex::new(0),
            waiting: AtomicUsize::new(0),
            freed: Condvar::new(),
            emptied: Condvar::new(),
        }
    }

    /// More than the whole capacity fits if nothing is used: else it could never pass. Nothing always fits.
    fn fits(used: usize, n: usize, capacity: usize) -> bool {
        used == 0 || n == 0 || used.saturating_add(n) <= capacity
    }

    fn used(&self) -> MutexGuard<'_, usize> {
        self.used.lock()
    }

    /// Waits until there is room for `n` more, at most for a time.
    fn wait(&self, n: usize, timeout: Option<Duration>) -> MutexGuard<'_, usize> {
        let mut used = self.used();
        let is_full = |used: &mut usize| !Self::fits(*used, n, self.capacity);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        match timeout {
            Some(timeout) => _ = self.freed.wait_while_for(&mut used, is_full, timeout),
            None => self.freed.wait_while(&mut used, is_full),
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        used
    }

    fn room(&self, mut used: MutexGuard<'_, usize>, n: usize) -> Reservation<'_> {
        *used += n;
        Reservation { of: self, left: n }
    }

    /// Takes room; waits for it.
    pub(crate) fn take(&self, n: usize) -> Reservation<'_> {
        self.room(self.wait(n, None), n)
    }

    /// Waits until there is room for `n`, at most for `timeout`. Returns whether there was.
    pub(crate) fn wait_for(&self, n: usize, timeout: Duration) -> bool {
        Self::fits(*self.wait(n, Some(timeout)), n, self.capacity)
    }

    /// Waits until nothing is taken, at most for `timeout`. Returns whether that is so.
    pub(crate) fn wait_until_empty(&self, timeout: Duration) -> bool {
        let mut used = self.used();
        self.emptied.wait_while_for(&mut used, |used| *used > 0, timeout);
        *used == 0
    }

    /// Takes room if there is some.
    pub(crate) fn try_take(&self, n: usize) -> Option<Reservation<'_>> {
        let used = self.used();
        Self::fits(*used, n, self.capacity).then(|| self.room(used, n))
    }

    /// Takes some of the first half. None while others wait for room: else it could take all that comes free.
    pub(crate) fn try_take_low(&self, n: usize) -> Option<Reservation<'_>> {
        let used = self.used();
        if self.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        Self::fits(*used, n, self.capacity / 2).then(|| self.room(used, n))
    }

    /// Takes room even if there is none.
    pub(crate) fn force(&self, n: usize) -> Reservation<'_> {
        self.room(self.used(), n)
    }

    /// Gives back what was used.
    pub(crate) fn give_back(&self, n: usize) {
        let mut used = self.used();
        *used = used.saturating_sub(n);
        if used.saturating_add(self.rest) <= self.capacity {
            self.freed.notify_all();
        }
        if *used == 0 {
            self.emptied.notify_all();
        }
    }

    /// The part that is taken.
    pub(crate) fn fill(&self) -> Fill {
        Fill::of(*self.used(), self.capacity)
    }
}

impl Reservation<'_> {
    /// Hands one place over to whoever gives it back by [`Room::give_back`].
    pub(crate) fn use_one(&mut self) {
        debug_assert!(self.left > 0, "no place is reserved");
        self.left = self.left.saturating_sub(1);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.of.give_back(self.left);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{TryRecvError, channel};
    use std::time::{Duration, Instant};

    use super::*;

    const ROWS: usize = 512;
    const PART: usize = 16;
    const TIME_LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn who_finds_no_rows_left_waits_for_a_turn_to_end() {
        let rows = Arc::new(Capacity::new(ROWS, 1));
        let mut turns: Vec<_> = (0..ROWS / PART).map(|_| rows.take(PART)).collect();
        let (tell, told) = channel();
        let other = Arc::clone(&rows);
        let waiting = std::thread::spawn(move || {
            let _turn = other.take(1);
            tell.send(()).expect("is listened to");
        });
        let began = Instant::now();
        // It waits, and goes on to wait when it is woken.
        for _ in 0..2 {
            while rows.freed.notify_all() == 0 {
                assert_eq!(told.try_recv(), Err(TryRecvError::Empty), "nothing is left");
                assert!(began.elapsed() < TIME_LIMIT, "nobody waits");
                std::thread::yield_now();
            }
        }
        turns.pop();
        told.recv_timeout(TIME_LIMIT).expect("has its turn");
        waiting.join().expect("ends");
        drop(turns);
        assert_eq!(rows.fill().used, 0);
    }
}
