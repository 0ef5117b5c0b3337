//! The times of changes under way that write notices: up to which time the notices of a list are complete.

use std::collections::BTreeMap;

use model::Millis;
use model::sync::Mutex;

/// The times at which changes under way began, with the number of those of one time.
#[derive(Debug, Default)]
pub(super) struct NoticeTimes(Mutex<BTreeMap<Millis, usize>>);

/// A change under way. Its notices have the time at which it began, or a later one.
#[derive(Debug)]
pub(crate) struct NoticeTime<'a> {
    of: &'a NoticeTimes,
    at: Millis,
}

impl NoticeTimes {
    /// Begins a change. The time is taken while nobody asks for [`NoticeTimes::complete`], and must not fall.
    pub(super) fn begin(&self, now: impl FnOnce() -> Millis) -> NoticeTime<'_> {
        let mut under_way = self.0.lock();
        let at = now();
        *under_way.entry(at).or_default() += 1;
        NoticeTime { of: self, at }
    }

    /// The time from which on notices may still come: those before it are visible, but for ones with a time of the host. Also
    /// whether a change under way decides it.
    pub(super) fn complete(&self, now: impl FnOnce() -> Millis) -> (Millis, bool) {
        let under_way = self.0.lock();
        match (now(), under_way.keys().next()) {
            (now, Some(first)) if *first <= now => (*first, true),
            (now, _) => (now, false),
        }
    }
}

impl Drop for NoticeTime<'_> {
    fn drop(&mut self) {
        let mut under_way = self.of.0.lock();
        if let Some(changes) = under_way.get_mut(&self.at) {
            *changes -= 1;
            if *changes == 0 {
                under_way.remove(&self.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_complete_up_to_the_first_change_under_way() {
        let times = NoticeTimes::default();
        assert_eq!(times.complete(|| 9), (9, false));
        let (first, second, third) = (times.begin(|| 5), times.begin(|| 5), times.begin(|| 7));
        assert_eq!(times.complete(|| 9), (5, true));
        drop(first);
        assert_eq!(times.complete(|| 9), (5, true));
        drop(second);
        assert_eq!((times.complete(|| 9), times.complete(|| 6)), ((7, true), (6, false)));
        drop(third);
        assert_eq!(times.complete(|| 9), (9, false));
    }
}
