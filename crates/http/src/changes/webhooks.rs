//! Webhooks: readers of the feed of changes that send it to a URL.

mod client;
mod sender;

use tokio::task::JoinSet;

use self::sender::Sender;
use crate::figures::webhooks::WebhookState;
use crate::prelude::*;

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

endpoints! { "operations":
    /// How far each webhook is
    ///
    /// The receivers of the settings of this server, with figures since its start.
    get("/v1/admin/webhooks", list, "listWebhooks")
        .of_this_server()
        .answers_items::<WebhookState>(200, "WebhookList", "All receivers")
        .never_waits();
}

/// `GET /v1/admin/webhooks`
async fn list(call: Call) -> Answer {
    let items: Vec<_> = call.api.observed.webhooks.iter().map(|figures| figures.lock().now()).collect();
    reply::items(&items)
}
