//! Whether the clock of the log, which is that of the broker that leads it, agrees with the clock of this node.
//!
//! A clock that is far ahead moves the time of the log by a minute at most (`record.rs`), and deadlines of records go by
//! the clock of the log as this node has last seen it.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use model::Millis;

/// How far the two may differ without a warning, milliseconds.
const FAR: u64 = 60_000;
/// They agree again below this difference. It is smaller, so that a difference near the other one does not warn again and
/// again.
const NEAR: u64 = 30_000;

/// The observations of the clock of the log.
#[derive(Debug, Default)]
pub(super) struct ClockDrift {
    ahead: AtomicI64,
    is_far: AtomicBool,
}

impl ClockDrift {
    /// Notes the time at which the log took the record at an offset by its own clock, and warns if that clock has become
    /// far from the one of this node. `sent` is the time at which this node sent the record, if it did. Nobody knows when
    /// the log took a record of another node, but not later than now.
    pub(super) fn note(&self, offset: u64, taken: Millis, sent: Option<Millis>, now: Millis) {
        let ahead = match (taken.saturating_sub(now), sent) {
            (0, None) => return,
            (0, Some(sent)) => -i64::try_from(sent.saturating_sub(taken)).unwrap_or(i64::MAX),
            (ahead, _) => i64::try_from(ahead).unwrap_or(i64::MAX),
        };
        self.ahead.store(ahead, Ordering::Relaxed);
        match (ahead.unsigned_abs(), self.is_far.load(Ordering::Relaxed)) {
            (apart, false) if apart > FAR => {
                self.is_far.store(true, Ordering::Relaxed);
                tracing::warn!(
                    offset,
                    ahead_seconds = ahead / 1000,
                    "the clock of the command log is far from the clock of this node: the clock of the broker that leads \
                     it, or the clock of this node, is wrong"
                );
            }
            (apart, true) if apart < NEAR => {
                self.is_far.store(false, Ordering::Relaxed);
                tracing::info!(offset, "the clock of the command log agrees with the clock of this node again");
            }
            _ => {}
        }
    }

    /// Milliseconds that the clock of the log is ahead of the clock of this node; negative if it is behind, 0 if they may
    /// agree.
    pub(super) fn ahead(&self) -> i64 {
        self.ahead.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_700_000_000_000;

    #[test]
    fn a_log_that_is_ahead_is_told_until_its_clock_has_come_near() {
        let clock_drift = ClockDrift::default();
        for (taken, now, ahead, is_far) in [
            (NOW, NOW, 0, false),
            (NOW + FAR, NOW, 60_000, false),
            (NOW + FAR + 1, NOW, 60_001, true),
            (NOW + FAR + 1, NOW + FAR - NEAR, 30_001, true),
            (NOW + FAR + 1, NOW + FAR - NEAR + 2, 29_999, false),
            (NOW + 2 * FAR + 1, NOW + FAR, 60_001, true),
            (u64::MAX, 0, i64::MAX, true),
        ] {
            clock_drift.note(1, taken, None, now);
            assert_eq!(
                (clock_drift.ahead(), clock_drift.is_far.load(Ordering::Relaxed)),
                (ahead, is_far),
                "{taken} at {now}"
            );
        }
        clock_drift.note(2, NOW, Some(NOW), NOW);
        assert_eq!(
            (clock_drift.ahead(), clock_drift.is_far.load(Ordering::Relaxed)),
            (0, false),
            "another broker leads"
        );
    }

    #[test]
    fn only_own_records_tell_that_the_log_is_behind() {
        let clock_drift = ClockDrift::default();
        // A node that was away for a day applies what others did.
        clock_drift.note(1, NOW - 86_400_000, None, NOW);
        assert_eq!((clock_drift.ahead(), clock_drift.is_far.load(Ordering::Relaxed)), (0, false));
        // An own record that waited for an hour to be applied.
        clock_drift.note(2, NOW - 3_599_000, Some(NOW - 3_600_000), NOW);
        assert_eq!((clock_drift.ahead(), clock_drift.is_far.load(Ordering::Relaxed)), (0, false));
        clock_drift.note(3, NOW - FAR - 1, Some(NOW), NOW + 5);
        assert_eq!((clock_drift.ahead(), clock_drift.is_far.load(Ordering::Relaxed)), (-60_001, true));
        clock_drift.note(4, NOW - 1000, None, NOW + 10);
        assert!(clock_drift.is_far.load(Ordering::Relaxed), "others tell nothing");
        clock_drift.note(5, NOW + 7, Some(NOW + 5), NOW + 10);
        assert_eq!((clock_drift.ahead(), clock_drift.is_far.load(Ordering::Relaxed)), (0, false));
    }
}
