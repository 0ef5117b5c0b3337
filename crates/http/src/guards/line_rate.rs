//! A bound for lines of the log that clients cause: a few a second. The others are counted.

use std::time::{Duration, Instant};

/// The time in which a number of lines may be written.
pub(crate) const SPAN: Duration = Duration::from_secs(1);

/// Counts lines.
#[derive(Debug)]
pub(crate) struct LineRate {
    most: u32,
    began: Instant,
    lines: u32,
    left_out: u64,
}

impl LineRate {
    /// For at most this many lines in one [`SPAN`].
    pub(crate) fn new(most: u32) -> Self {
        Self { most, began: Instant::now(), lines: 0, left_out: 0 }
    }

    /// Whether a line may be written: then the number of lines left out before it.
    pub(crate) fn line(&mut self, now: Instant) -> Option<u64> {
        if now.duration_since(self.began) >= SPAN {
            (self.began, self.lines) = (now, 0);
        }
        if self.lines == self.most {
            self.left_out += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}
