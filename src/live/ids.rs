//! Content ids for hosts that name none.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::now;
use crate::model::ContentId;

/// Makes content ids that rise with time: milliseconds in the upper bits, a counter in the lower 20.
///
/// Unique within a process; the store refuses one that a clock set back would make again.
#[derive(Debug, Default)]
pub struct IdMaker(AtomicU64);

impl IdMaker {
    const COUNTER_BITS: u32 = 20;

    /// The next id.
    pub fn next(&self) -> ContentId {
        let clock = now() << Self::COUNTER_BITS;
        let step = |last: u64| Some(clock.max(last + 1));
        let last = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).unwrap_or_default();
        ContentId::new(clock.max(last + 1)).unwrap_or(ContentId::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_rise_and_never_repeat() {
        let maker = IdMaker::default();
        let ids: Vec<_> = (0..10_000).map(|_| maker.next()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
