//! Striped locks: many names share a fixed number of mutexes.

use std::sync::{Mutex, MutexGuard, PoisonError};

const STRIPES: usize = 1024;

/// A lock for every number, in bounded memory. Two numbers may share one, so a thread holds at most
/// one guard of each [`Stripes`] unless it takes them all by [`Stripes::many`].
pub(super) struct Stripes(Box<[Mutex<()>]>);

impl Default for Stripes {
    fn default() -> Self {
        Self((0..STRIPES).map(|_| Mutex::new(())).collect())
    }
}

impl Stripes {
    fn index(number: u64) -> usize {
        (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % STRIPES
    }

    fn lock(&self, index: usize) -> MutexGuard<'_, ()> {
        // The locks guard rows on disk, which a panic elsewhere leaves whole.
        self.0[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks one number.
    pub(super) fn one(&self, number: u64) -> MutexGuard<'_, ()> {
        self.lock(Self::index(number))
    }

    /// Locks several numbers, in an order that cannot deadlock.
    pub(super) fn many(&self, numbers: impl IntoIterator<Item = u64>) -> Vec<MutexGuard<'_, ()>> {
        let mut indices: Vec<_> = numbers.into_iter().map(Self::index).collect();
        indices.sort_unstable();
        indices.dedup();
        indices.into_iter().map(|index| self.lock(index)).collect()
    }
}
