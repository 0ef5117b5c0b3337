//! Whether the time of the log agrees with the clock of this node.
//!
//! The clock of the broker that leads the log gives the times, and the time of the log never falls: if that clock is far
//! ahead once, the log stays ahead until all clocks have come there. Nothing is decided here, only told.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::model::Millis;

/// How far the two may differ without a warning, milliseconds.
const FAR: Millis = 60_000;
/// They agree again below this difference. It is smaller, so that a difference near the other one does not warn again and
/// again.
const NEAR: Millis = 30_000;

/// The observations of the time of the log.
#[derive(Debug, Default)]
pub(super) struct Skew {
    /// How far the log was behind at the last own record, milliseconds.
    behind: AtomicU64,
    is_far: AtomicBool,
}

impl Skew {
    /// Notes the time of the log with the record at an offset, and warns if it has become far from the clock. `sent` is
    /// the time at which this node sent the record, if it did. A record of another node does not show whether the log is
    /// behind: it may be an old one.
    pub(super) fn note(&self, offset: u64, time: Millis, sent: Option<Millis>, now: Millis) {
        if let Some(sent) = sent {
            self.behind.store(sent.saturating_sub(time), Ordering::Relaxed);
        }
        let seconds = self.ahead(time, now) / 1000;
        match (self.apart(time, now), self.is_far.load(Ordering::Relaxed)) {
            (apart, false) if apart > FAR => {
                self.is_far.store(true, Ordering::Relaxed);
                tracing::warn!(
                    offset,
                    ahead_seconds = seconds,
                    "the time of the command log is far from the clock of this node: the clock of the broker that leads \
                     it, or the clock of this node, is wrong"
                );
            }
            (apart, true) if apart < NEAR => {
                self.is_far.store(false, Ordering::Relaxed);
                tracing::info!(offset, "the time of the command log agrees with the clock of this node again");
            }
            _ => {}
        }
    }

    /// Milliseconds that the time of the log is ahead of the clock; negative if it is behind, 0 if they may agree.
    pub(super) fn ahead(&self, time: Millis, now: Millis) -> i64 {
        let apart = i64::try_from(self.apart(time, now)).unwrap_or(i64::MAX);
        if time > now { apart } else { -apart }
    }

    fn apart(&self, time: Millis, now: Millis) -> Millis {
        match time.saturating_sub(now) {
            0 => self.behind.load(Ordering::Relaxed),
            ahead => ahead,
        }
    }

    /// Whether the last word was a warning.
    #[cfg(test)]
    pub(super) fn is_far(&self) -> bool {
        self.is_far.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_700_000_000_000;

    #[test]
    fn a_log_that_is_ahead_is_told_until_the_clock_has_come_near() {
        let skew = Skew::default();
        for (time, now, ahead, is_far) in [
            (NOW, NOW, 0, false),
            (NOW + FAR, NOW, 60_000, false),
            (NOW + FAR + 1, NOW, 60_001, true),
            (NOW + FAR + 1, NOW + FAR - NEAR, 30_001, true),
            (NOW + FAR + 1, NOW + FAR - NEAR + 2, 29_999, false),
            (NOW + 2 * FAR + 1, NOW + FAR, 60_001, true),
            (u64::MAX, 0, i64::MAX, true),
            (0, NOW, 0, false),
        ] {
            skew.note(1, time, None, now);
            assert_eq!((skew.ahead(time, now), skew.is_far()), (ahead, is_far), "{time} at {now}");
        }
    }

    #[test]
    fn only_own_records_tell_that_the_log_is_behind() {
        let skew = Skew::default();
        // A node that was away for a day applies what others did.
        skew.note(1, NOW - 86_400_000, None, NOW);
        assert_eq!((skew.ahead(NOW - 86_400_000, NOW), skew.is_far()), (0, false));
        // An own record that waited for an hour to be applied, and one with a time before it was sent.
        skew.note(2, NOW - 3_599_000, Some(NOW - 3_600_000), NOW);
        assert_eq!((skew.ahead(NOW - 3_599_000, NOW), skew.is_far()), (0, false));
        skew.note(3, NOW - FAR - 1, Some(NOW), NOW + 5);
        assert_eq!((skew.ahead(NOW - FAR - 1, NOW + 5), skew.is_far()), (-60_001, true));
        skew.note(4, NOW - 1000, None, NOW + 10);
        assert!(skew.is_far(), "others tell nothing");
        skew.note(5, NOW + 7, Some(NOW + 5), NOW + 10);
        assert_eq!((skew.ahead(NOW + 7, NOW + 10), skew.is_far()), (0, false));
    }
}
