//! Figures of webhooks. Only a server with webhooks has them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::figures::page::{Page, by, figures};
use crate::figures::webhooks::WebhookFigures;

/// Writes the figures of all webhooks.
pub(super) fn figures(page: &mut Page<'_>, webhooks: &[Arc<WebhookFigures>]) -> fmt::Result {
    let all = |figure: fn(&WebhookFigures) -> u64| {
        by("webhook", webhooks.iter().map(move |webhook| (&*webhook.name, figure(webhook))))
    };
    figures! { page =>
        /// The age of the oldest change that a webhook has not taken.
        tideline_webhook_lag_seconds = all(WebhookFigures::lag);
        /// Changes that a webhook has taken.
        tideline_webhook_changes_total = all(|webhook| webhook.taken.load(Ordering::Relaxed));
        /// Requests to a webhook that failed.
        tideline_webhook_failures_total = all(|webhook| webhook.failures.load(Ordering::Relaxed));
        /// How often changes that a webhook had not taken were gone from the feed.
        tideline_webhook_gaps_total = all(|webhook| webhook.gaps.load(Ordering::Relaxed));
    }
}
