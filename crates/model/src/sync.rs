//! The locks and atomics of state that readers and workers share, in one place.

pub use std::sync::atomic;
pub use std::thread_local;

pub use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A value that readers copy, and that is replaced as a whole: an [`Arc`](std::sync::Arc), or a few words.
#[derive(Debug, Default)]
pub struct Latest<T>(RwLock<T>);

impl<T: Clone> Latest<T> {
    /// Begins with a value.
    pub fn new(value: T) -> Self {
        Self(RwLock::new(value))
    }

    /// The present value.
    pub fn get(&self) -> T {
        self.0.read().clone()
    }

    /// Replaces the value.
    pub fn set(&self, value: T) {
        *self.0.write() = value;
    }
}
