//! A bound on the rows that are read at once.

use model::sync::{Condvar, Mutex};

/// Most rows of contents and profiles that all threads together read from the disk at once. Each may be as large as the
/// body of a change.
const ROWS: usize = 512;
/// Most rows of one call. Bytes are counted after each call.
pub(crate) const PART: usize = 16;

/// Bounds the rows that are read at once, before anybody counts them. A call without free rows waits until another call
/// ends.
#[derive(Debug)]
pub(crate) struct RowsAtOnce {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Default for RowsAtOnce {
    fn default() -> Self {
        Self { free: Mutex::new(ROWS), freed: Condvar::new() }
    }
}

/// Rows that are being read.
pub(crate) struct RowsTaken<'a> {
    of: &'a RowsAtOnce,
    rows: usize,
}

impl RowsAtOnce {
    /// Waits until this many rows, at most [`PART`], are free.
    pub(crate) fn take(&self, rows: usize) -> RowsTaken<'_> {
        let mut free = self.free.lock();
        self.freed.wait_while(&mut free, |free| *free < rows);
        *free -= rows;
        RowsTaken { of: self, rows }
    }
}

impl Drop for RowsTaken<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.of.free.lock() += self.rows;
        self.of.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{TryRecvError, channel};
    use std::time::{Duration, Instant};

    use super::*;

    const TIME_LIMIT: Duration = Duration::from_secs(60);

    #[test]
    fn who_finds_no_rows_left_waits_for_a_turn_to_end() {
        let rows = Arc::new(RowsAtOnce::default());
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
        assert_eq!(*rows.free.lock(), ROWS);
    }
}
