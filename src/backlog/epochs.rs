//! Numbers by which a reader sees that it may have mixed two instants.

use crate::model::UserId;
use crate::sync::atomic::{AtomicU64, Ordering};

const STRIPES: usize = 4096;

/// Many users share a number; a needless second look is all that costs.
#[derive(Debug)]
pub(super) struct Epochs(Box<[AtomicU64]>);

impl Default for Epochs {
    fn default() -> Self {
        Self((0..STRIPES).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Epochs {
    fn stripe(&self, user: UserId) -> &AtomicU64 {
        &self.0[(user.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % STRIPES]
    }

    pub(super) fn of(&self, user: UserId) -> u64 {
        self.stripe(user).load(Ordering::SeqCst)
    }

    pub(super) fn advance(&self, user: UserId) {
        self.stripe(user).fetch_add(1, Ordering::SeqCst);
    }
}
