//! How far each receiver of changes is.

use std::time::Duration;

use crate::wire::answers::answers;
use config::Webhook;
use model::clock::now;
use model::{Millis, Time};

answers! {
    /// A receiver of changes.
    #[derive(Default, Clone)]
    pub(crate) struct WebhookState as Webhook {
        pub(crate) name: String,
        /// Without the query.
        pub(crate) url: String,
        /// The position behind the last change that it has taken, or that is not for it.
        pub(crate) position?: String,
        /// The age of the oldest change that it has not taken.
        pub(crate) lag_seconds: u64,
        /// Changes that it has taken.
        pub(crate) taken: u64,
        /// Requests that failed.
        pub(crate) failures: u64,
        /// How often changes that were not sent yet were gone from the feed.
        pub(crate) gaps: u64,
        /// When it took changes last.
        taken_at?: Millis as Time,
        /// When a request failed last.
        failed_at?: Millis as Time,
        /// Why it failed.
        last_error?: String,
        /// When the next request begins, after a failure.
        next_at?: Millis as Time,
        /// The time of the oldest change that it has not taken; `None` at the end of the feed.
        #[serde(skip)]
        pub(crate) waiting_since: Option<Millis>,
    }
}

impl WebhookState {
    pub(crate) fn of(hook: &Webhook) -> Self {
        let url = hook.url.to_string();
        let url = url.split('?').next().unwrap_or_default().to_owned();
        Self { name: hook.name.to_string(), url, ..Self::default() }
    }

    /// The state as it is now.
    pub(crate) fn now(&self) -> Self {
        let lag_seconds = self.waiting_since.map_or(0, |since| now().saturating_sub(since) / 1000);
        Self { lag_seconds, ..self.clone() }
    }

    /// The receiver has taken so many changes. The next read tells whether others wait.
    pub(crate) fn take(&mut self, changes: u64) {
        self.taken += changes;
        (self.taken_at, self.next_at) = (Some(now()), None);
    }

    /// A request failed; the next one follows after a pause.
    pub(crate) fn fail(&mut self, why: &str, pause: Duration) {
        self.failures += 1;
        (self.failed_at, self.last_error, self.next_at) =
            (Some(now()), Some(why.to_owned()), Some(now() + pause.as_millis() as Millis));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An alert on the lag would fall silent between two requests of a backlog otherwise.
    #[test]
    fn the_lag_stays_until_it_is_known_that_nothing_waits() {
        let mut state = WebhookState { waiting_since: Some(now() - 9000), ..WebhookState::default() };
        state.take(100);
        assert!(state.now().lag_seconds >= 9, "{:?}", state.now());
    }
}
