//! Reads of unknown size: the rows at once are bounded, and their bytes are counted.

use crate::Feed;
use model::error::Result;
use model::store::Tier;
use model::sync::{Condvar, Mutex};

/// Most rows of contents and profiles that all threads together read from the disk at once. Each may be as large as the
/// body of a change.
const ROWS: usize = 512;
/// Most rows of one call. Bytes are counted after each call.
const PART: usize = 16;

/// Called while the content of an answer is read, each time with the number of further bytes that the answer takes in
/// memory. An error ends the read.
pub type Count<'c> = dyn FnMut(usize) -> Result<()> + 'c;

/// Bounds the rows that are read at once. A call without free rows waits until another call ends.
#[derive(Debug)]
pub(crate) struct Reading {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Default for Reading {
    #[inline]
    fn default() -> Self {
        Self { free: Mutex::new(ROWS), freed: Condvar::new() }
    }
}

/// Rows that are being read.
struct RowsTaken<'a> {
    reading: &'a Reading,
    rows: usize,
}

impl Reading {
    /// Waits until this many rows, at most [`PART`], are free.
    fn begin(&self, rows: usize) -> RowsTaken<'_> {
        let mut free = self.free.lock();
        self.freed.wait_while(&mut free, |free| *free < rows);
        *free -= rows;
        RowsTaken { reading: self, rows }
    }
}

impl Drop for RowsTaken<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.reading.free.lock() += self.rows;
        self.reading.freed.notify_all();
    }
}

impl Feed {
    /// The rows of `keys`, read in parts. The bytes of each part are counted before the next is read. Reads from memory
    /// do not wait: they run on one of few threads, and their rows are there already.
    pub(crate) fn in_parts<K, V>(
        &self,
        keys: &[K],
        tier: Tier,
        count: &mut Count<'_>,
        read: impl Fn(&[K]) -> Result<Vec<V>>,
        bytes: impl Fn(&V) -> usize,
    ) -> Result<Vec<V>> {
        let mut rows = Vec::with_capacity(keys.len());
        for part in keys.chunks(PART) {
            let turn = (tier == Tier::Disk).then(|| self.reading.begin(part.len()));
            let read = read(part)?;
            count(read.iter().map(&bytes).sum())?;
            drop(turn);
            rows.extend(read);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_read_without_rows_left_waits_for_a_turn_to_end() {
        let reading = Arc::new(Reading::default());
        let mut turns: Vec<_> = (0..ROWS / PART).map(|_| reading.begin(PART)).collect();
        let (tell, told) = channel();
        let other = Arc::clone(&reading);
        let waiting = std::thread::spawn(move || {
            let _turn = other.begin(1);
            tell.send(()).expect("is listened to");
        });
        assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "nothing is left");
        turns.pop();
        told.recv_timeout(Duration::from_secs(60)).expect("has its turn");
        waiting.join().expect("ends");
        drop(turns);
        assert_eq!(*reading.free.lock(), ROWS);
    }
}
