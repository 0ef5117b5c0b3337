//! Striped locks: many names share a fixed number of locks.

use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

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
    fn lock(&self, index: usize) -> MutexGuard<'_, ()> {
        // The locks guard rows on disk, which a panic elsewhere leaves whole.
        self.0[index].lock()
    }

    /// Locks one number.
    pub(super) fn one(&self, number: u64) -> MutexGuard<'_, ()> {
        self.lock(index(number))
    }

    /// Locks several numbers, in an order that cannot deadlock.
    pub(super) fn many(&self, numbers: impl IntoIterator<Item = u64>) -> Vec<MutexGuard<'_, ()>> {
        indices(numbers).into_iter().map(|index| self.lock(index)).collect()
    }
}

/// The same for locks that many may share.
pub(super) struct SharedStripes(Box<[RwLock<()>]>);

impl Default for SharedStripes {
    fn default() -> Self {
        Self((0..STRIPES).map(|_| RwLock::new(())).collect())
    }
}

impl SharedStripes {
    /// Locks several numbers against [`SharedStripes::exclusive`], in an order that cannot deadlock.
    pub(super) fn shared(&self, numbers: impl IntoIterator<Item = u64>) -> Vec<RwLockReadGuard<'_, ()>> {
        let lock = |index: usize| self.0[index].read();
        indices(numbers).into_iter().map(lock).collect()
    }

    /// Locks several numbers against everybody, in the same order.
    pub(super) fn exclusive(&self, numbers: impl IntoIterator<Item = u64>) -> Vec<RwLockWriteGuard<'_, ()>> {
        let lock = |index: usize| self.0[index].write();
        indices(numbers).into_iter().map(lock).collect()
    }
}

fn index(number: u64) -> usize {
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % STRIPES
}

/// The stripes of several numbers, ascending, each once.
fn indices(numbers: impl IntoIterator<Item = u64>) -> Vec<usize> {
    let mut indices: Vec<_> = numbers.into_iter().map(index).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}
