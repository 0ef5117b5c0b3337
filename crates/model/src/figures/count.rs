//! A count of events, for figures.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts without a lock. It says nothing about other memory.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Counts so many more.
    pub fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// The number so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
