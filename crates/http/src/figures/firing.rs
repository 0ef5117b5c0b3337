//! Since when the conditions of alerts hold.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The condition of an alert, as it is now.
pub(crate) struct Condition {
    /// Whether it holds.
    pub(crate) holds: bool,
    /// A number that only rises. The condition holds as well if it has done so within the window.
    pub(crate) count: u64,
    pub(crate) window: Duration,
    /// How long the condition must hold before the alert does.
    pub(crate) lasts: Duration,
}

/// The conditions of all alerts, as they were at the last look.
#[derive(Debug, Default)]
pub(crate) struct Firing(Mutex<Vec<State>>);

#[derive(Debug, Default, Clone)]
struct State {
    since: Option<Instant>,
    count: u64,
    grew: Option<Instant>,
}

impl Firing {
    /// Looks at all conditions, always in one order. Returns for each whether its alert holds.
    pub(crate) fn look(&self, now: Instant, conditions: impl Iterator<Item = Condition>) -> Vec<bool> {
        let mut states = self.0.lock();
        let judge = |(place, condition): (usize, Condition)| {
            if states.len() == place {
                states.push(State::default());
            }
            let state = &mut states[place];
            if condition.count > state.count {
                (state.count, state.grew) = (condition.count, Some(now));
            }
            let has_grown = state.grew.is_some_and(|grew| now.saturating_duration_since(grew) < condition.window);
            state.since = if condition.holds || has_grown { state.since.or(Some(now)) } else { None };
            state.since.is_some_and(|since| now.saturating_duration_since(since) >= condition.lasts)
        };
        conditions.enumerate().map(judge).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_holds_while_its_condition_has_held_for_its_time() {
        let (firing, began) = (Firing::default(), Instant::now());
        let look = |second, holds| {
            let lasts = Duration::from_secs(60);
            let condition = Condition { holds, count: 0, window: Duration::ZERO, lasts };
            firing.look(began + Duration::from_secs(second), [condition].into_iter()) == [true]
        };
        let seen = [(0, true), (59, true), (60, true), (61, false), (62, true), (121, true), (122, true)];
        assert_eq!(seen.map(|(at, holds)| look(at, holds)), [false, false, true, false, false, false, true]);
    }

    #[test]
    fn a_count_that_has_risen_fires_for_a_while() {
        let (firing, began) = (Firing::default(), Instant::now());
        let look = |second, count| {
            let window = Duration::from_secs(300);
            let condition = Condition { holds: false, count, window, lasts: Duration::ZERO };
            firing.look(began + Duration::from_secs(second), [condition].into_iter()) == [true]
        };
        let seen = [(0, 0), (5, 2), (304, 2), (305, 2), (306, 3)];
        assert_eq!(seen.map(|(at, count)| look(at, count)), [false, true, true, false, true]);
    }
}
