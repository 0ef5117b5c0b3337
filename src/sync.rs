//! The locks and atomics of state that readers and workers share, in one place: `tests/shuttle` compiles the same
//! sources with those of a scheduler that tries many interleavings.

pub(crate) use std::sync::atomic;

pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
