//! Webhooks: readers of the feed of changes that send it to a URL.

mod client;
mod sender;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde::Serialize;
use serde_json::json;
use tokio::task::JoinSet;
use utoipa::ToSchema;

use self::sender::Sender;
use crate::api::Api;
use crate::call::Call;
use crate::endpoint::{Endpoint, get, group};
use crate::figures::webhooks::{WebhookFigures, WebhookState};
use crate::wire::reply::{self, Answer};
use model::error::Result;
use model::{Millis, Time};

/// The running senders, one for each receiver of the settings. They end when this is dropped.
#[derive(Debug)]
pub struct Webhooks(JoinSet<()>);

impl Webhooks {
    /// Starts the senders, on the present runtime. Fails if the settings of one are wrong.
    pub fn start(api: &Arc<Api>) -> Result<Self> {
        let hooks = api.config().webhooks.iter().zip(&api.observed.webhooks);
        let senders: Vec<_> = hooks.map(|(hook, figures)| Sender::new(api, hook, figures)).collect::<Result<_>>()?;
        let mut tasks = JoinSet::new();
        for sender in senders {
            let api = Arc::clone(api);
            // A request under way is given up, and sent again by the standby.
            tasks.spawn_local(async move {
                tokio::select! {
                    () = sender.run() => {}
                    () = api.handed_over() => {}
                }
            });
        }
        Ok(Self(tasks))
    }

    /// Ends the senders. A request under way is given up, and sent again after the next start.
    pub async fn stop(mut self) {
        self.0.shutdown().await;
    }
}

/// The calls of this file.
pub(super) fn endpoints() -> Vec<Endpoint> {
    let example = json!({
        "name": "push", "url": "https://app.example.org/tideline", "position": "9f3c6a1e5b7d2048-88213", "lag_seconds": 0,
        "taken": 1024, "failures": 1, "gaps": 0, "taken_at": 1_689_089_522_000_u64,
        "failed_at": 1_689_089_521_000_u64, "last_error": "it answered 503"
    });
    let call = get("/v1/admin/webhooks", list, "listWebhooks", "How far each webhook is")
        .about("The receivers of the settings of this server, with figures since its start.")
        .of_this_server()
        .answers_items::<WebhookBody>(200, "WebhookList", "All receivers", example)
        .never_waits();
    group("operations", [call])
}

/// A receiver of changes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Webhook)]
struct WebhookBody {
    name: String,
    /// Without the query.
    url: String,
    /// The position behind the last change that it has taken, or that is not for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    position: Option<String>,
    /// The age of the oldest change that it has not taken.
    lag_seconds: u64,
    /// Changes that it has taken.
    taken: u64,
    /// Requests that failed.
    failures: u64,
    /// How often changes that were not sent yet were gone from the feed.
    gaps: u64,
    /// When it took changes last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    taken_at: Option<Millis>,
    /// When a request failed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    failed_at: Option<Millis>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    last_error: Option<String>,
    /// When the next request begins, after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Time)]
    next_at: Option<Millis>,
}

impl WebhookBody {
    fn of(figures: &WebhookFigures) -> Self {
        let count = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
        let WebhookState { position, taken_at, failed, next_at, .. } = figures.state.lock().clone();
        Self {
            name: figures.name.clone(),
            url: figures.url.clone(),
            position,
            lag_seconds: figures.lag(),
            taken: count(&figures.taken),
            failures: count(&figures.failures),
            gaps: count(&figures.gaps),
            taken_at,
            failed_at: failed.as_ref().map(|(at, _)| *at),
            last_error: failed.map(|(_, why)| why),
            next_at,
        }
    }
}

/// `GET /v1/admin/webhooks`
async fn list(call: Call) -> Answer {
    let items: Vec<_> = call.api.observed.webhooks.iter().map(|figures| WebhookBody::of(figures)).collect();
    reply::ok(&json!({ "items": items }))
}
