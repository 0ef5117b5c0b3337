//! Whether the log answers. An election of brokers takes some seconds, during which callers wait.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How long callers wait for the log as if it answered. Brokers that lose their leader need about as long.
const GRACE: Duration = Duration::from_secs(6);

/// The time since which the log has not answered.
#[derive(Debug, Default)]
pub(super) struct Outage(Mutex<Option<Instant>>);

impl Outage {
    /// The log has not answered; true for the first time in a row.
    pub(super) fn note(&self) -> bool {
        let mut since = self.0.lock();
        let is_first = since.is_none();
        since.get_or_insert_with(Instant::now);
        is_first
    }

    /// The log has answered; true if it had not before.
    pub(super) fn end(&self) -> bool {
        self.0.lock().take().is_some()
    }

    /// Whether the last answer is missing.
    pub(super) fn is_on(&self) -> bool {
        self.0.lock().is_some()
    }

    /// Whether that lasts, so that callers should not wait.
    pub(super) fn lasts(&self) -> bool {
        self.0.lock().is_some_and(|since| since.elapsed() >= GRACE)
    }
}
