//! The locks and atomics of state that readers and workers share, in one place.

pub use std::sync::atomic;
pub use std::thread_local;

pub use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
