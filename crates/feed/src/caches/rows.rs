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
