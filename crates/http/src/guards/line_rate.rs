//! A bound for lines of the log that clients cause: a few a second. The others are counted.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

/// Counts lines.
#[derive(Debug)]
pub(crate) struct LineRate {
    lines: DefaultDirectRateLimiter,
    left_out: AtomicU64,
}

impl LineRate {
    /// For at most this many lines a second.
    pub(crate) fn new(most: u32) -> Self {
        let rate = Quota::per_second(NonZeroU32::new(most).unwrap_or(NonZeroU32::MIN));
        Self { lines: RateLimiter::direct(rate), left_out: AtomicU64::new(0) }
    }

    /// Whether a line may be written: then the number of lines left out before it.
    pub(crate) fn line(&self) -> Option<u64> {
        if self.lines.check().is_ok() {
            return Some(self.left_out.swap(0, Ordering::Relaxed));
        }
        self.left_out.fetch_add(1, Ordering::Relaxed);
        None
    }
}
