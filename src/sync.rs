//! The locks and atomics of what readers and workers share, from one place: `tests/shuttle` compiles
//! the same sources with those of a scheduler that tries many interleavings.

pub(crate) use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic,
};
