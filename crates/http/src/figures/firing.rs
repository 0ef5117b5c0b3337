//! Since when the conditions of alerts hold.

use std::time::{Duration, Instant};

/// The condition of an alert, as it was at the last look.
#[derive(Debug, Default, Clone)]
pub(crate) struct Firing {
    since: Option<Instant>,
    count: u64,
    grew: Option<Instant>,
}

impl Firing {
    /// Looks whether the alert holds: its condition must have held for `lasts`. `count` is a number that only rises; the
    /// condition holds as well if it has done so within the `window`.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        (holds, count): (bool, u64),
        (window, lasts): (Duration, Duration),
    ) -> bool {
        if count > self.count {
            (self.count, self.grew) = (count, Some(now));
        }
        let has_grown = self.grew.is_some_and(|grew| now.saturating_duration_since(grew) < window);
        self.since = if holds || has_grown { self.since.or(Some(now)) } else { None };
        self.since.is_some_and(|since| now.saturating_duration_since(since) >= lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_holds_while_its_condition_has_held_for_its_time() {
        let (mut firing, began) = (Firing::default(), Instant::now());
        let lasts = Duration::from_secs(60);
        let mut look =
            |second, holds| firing.look(began + Duration::from_secs(second), (holds, 0), (Duration::ZERO, lasts));
        let seen = [(0, true), (59, true), (60, true), (61, false), (62, true), (121, true), (122, true)];
        assert_eq!(seen.map(|(at, holds)| look(at, holds)), [false, false, true, false, false, false, true]);
    }

    #[test]
    fn a_count_that_has_risen_fires_for_a_while() {
        let (mut firing, began) = (Firing::default(), Instant::now());
        let window = Duration::from_secs(300);
        let mut look =
            |second, count| firing.look(began + Duration::from_secs(second), (false, count), (window, Duration::ZERO));
        let seen = [(0, 0), (5, 2), (304, 2), (305, 2), (306, 3)];
        assert_eq!(seen.map(|(at, count)| look(at, count)), [false, true, true, false, true]);
    }
}
