//! The speed at which a client takes a large answer: a slow client keeps no places of others.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits::Places;

/// A client has the timeout of a request, and one second more for each of these bytes.
const SLOWEST: u64 = 64 << 10;
/// How often the speed is looked at. While others are refused such places, a client that took nothing for so long loses them.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(2);

/// An answer on its way to the client. The time in which the server makes its parts does not count.
#[derive(Default)]
pub(super) struct Pace {
    /// None of the quota of those that the answer holds: they tell whether others want such places.
    pub(super) places: Option<Places>,
    sent: u64,
    /// Since when the client takes nothing, and how long it took nothing before.
    since: Option<Instant>,
    waited: Duration,
}

impl Pace {
    /// The client has taken bytes.
    pub(super) fn took(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        self.waited += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    /// The client takes nothing now. Whether it is too slow, with this timeout of a request.
    pub(super) fn is_too_slow(&mut self, timeout: Duration) -> bool {
        let waits = self.since.get_or_insert_with(Instant::now).elapsed();
        let is_late = self.waited + waits > timeout + Duration::from_secs(self.sent / SLOWEST);
        self.places.as_ref().is_some_and(|places| is_late || waits >= LOOK_EVERY.min(timeout) && places.are_wanted())
    }
}
