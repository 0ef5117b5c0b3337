//! How far each receiver of changes is.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use config::Webhook;
use model::Millis;
use model::clock::now;

/// The figures of one receiver.
#[derive(Debug, Default)]
pub(crate) struct WebhookFigures {
    pub(crate) name: String,
    /// Where changes are sent, without the query, which may have a secret.
    pub(crate) url: String,
    /// Changes that the receiver has taken.
    pub(crate) taken: AtomicU64,
    /// Requests that failed.
    pub(crate) failures: AtomicU64,
    /// How often changes that were not sent yet were gone from the feed.
    pub(crate) gaps: AtomicU64,
    pub(crate) state: Mutex<WebhookState>,
}

/// The present state of one receiver.
#[derive(Debug, Default, Clone)]
pub(crate) struct WebhookState {
    /// The position behind the last change that the receiver has taken; `None` until it is read from the disk.
    pub(crate) position: Option<String>,
    /// The time of the oldest change that it has not taken; `None` at the end of the feed.
    pub(crate) waiting_since: Option<Millis>,
    /// When it took changes last, since the start of the server.
    pub(crate) taken_at: Option<Millis>,
    /// When a request failed last, and why.
    pub(crate) failed: Option<(Millis, String)>,
    /// When the next request begins, after a failure.
    pub(crate) next_at: Option<Millis>,
}

impl WebhookFigures {
    pub(crate) fn of(hook: &Webhook) -> Self {
        let url = hook.url.to_string();
        let url = url.split('?').next().unwrap_or_default().to_owned();
        Self { name: hook.name.to_string(), url, ..Self::default() }
    }

    /// The age of the oldest change that the receiver has not taken, seconds; 0 at the end of the feed.
    pub(crate) fn lag(&self) -> u64 {
        self.state.lock().waiting_since.map_or(0, |since| now().saturating_sub(since) / 1000)
    }

    /// The receiver has taken so many changes. The next read tells whether others wait.
    pub(crate) fn take(&self, changes: u64) {
        self.taken.fetch_add(changes, Ordering::Relaxed);
        let mut state = self.state.lock();
        (state.taken_at, state.next_at) = (Some(now()), None);
    }

    /// A request failed; the next one follows after a pause.
    pub(crate) fn fail(&self, why: &str, pause: Millis) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state.lock();
        (state.failed, state.next_at) = (Some((now(), why.to_owned())), Some(now() + pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An alert on the lag would fall silent between two requests of a backlog otherwise.
    #[test]
    fn the_lag_stays_until_it_is_known_that_nothing_waits() {
        let figures = WebhookFigures::default();
        figures.state.lock().waiting_since = Some(now() - 9000);
        figures.take(100);
        assert!(figures.lag() >= 9, "{}", figures.lag());
    }
}
