//! The locks of `sync` for shuttle, a scheduler that tries many interleavings, behind the interface of parking_lot's.

#![allow(clippy::expect_used, missing_docs, reason = "for tests only")]

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::time::Duration;

use shuttle::sync as shuttled;
pub use shuttle::thread_local;
pub use shuttled::{RwLockReadGuard, RwLockWriteGuard, atomic};

#[derive(Debug, Default)]
pub struct Mutex<T>(shuttled::Mutex<T>);

impl<T> Mutex<T> {
    pub fn new(value: T) -> Self {
        Self(shuttled::Mutex::new(value))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Holds its guard, except while it waits for a condition.
#[derive(Debug)]
pub struct MutexGuard<'a, T>(Option<shuttled::MutexGuard<'a, T>>);

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("locked")
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("locked")
    }
}

#[derive(Debug, Default)]
pub struct RwLock<T>(shuttled::RwLock<T>);

impl<T> RwLock<T> {
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub struct Condvar(shuttled::Condvar);

impl Condvar {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        let locked = guard.0.take().expect("locked");
        guard.0 = Some(self.0.wait(locked).unwrap_or_else(PoisonError::into_inner));
    }

    pub fn wait_while<T>(&self, guard: &mut MutexGuard<'_, T>, mut holds: impl FnMut(&mut T) -> bool) {
        while holds(guard) {
            self.wait(guard);
        }
    }

    /// The scheduler knows no time, so a wait ends only with its condition.
    pub fn wait_while_for<T>(&self, guard: &mut MutexGuard<'_, T>, holds: impl FnMut(&mut T) -> bool, _: Duration) {
        self.wait_while(guard, holds);
    }
}
