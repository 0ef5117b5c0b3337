//! `GET /v1/admin/history`: the main figures of the last hour, and how they are taken.

use std::time::Duration;

use super::{alerts, metrics};
use crate::figures::history::{Sample, State};
use crate::prelude::*;
use crate::wire::query::Number;
use model::clock::now;

/// The time between two samples.
const EVERY: Duration = Duration::from_secs(5);
/// A time, up to the greatest one that every client of JSON can write.
const AFTER: Number = Number {
    name: "after",
    about: "Only samples after this time, in milliseconds since 1970",
    most: |_| (1 << 53) - 1,
    usual: 1,
};

endpoints! { "operations":
    /// The main figures of the last hour
    ///
    /// A sample every five seconds, oldest first. They are in memory: a restart begins anew.
    get("/v1/admin/history", history, "getHistory")
        .query([parameters::number(&AFTER)])
        .answers_items::<Sample>(200, "History", "The samples")
        .of_this_server()
        .never_waits();
}

/// `GET /v1/admin/history`
async fn history(call: Call) -> Answer {
    let after = call.query()?.number(&AFTER)?;
    let samples = call.api.observed.history.after(after as Millis);
    let items: Vec<&Sample> = samples.iter().map(Arc::as_ref).collect();
    reply::items(&items)
}

/// Reads the figures from which the first sample counts. The future that it returns takes the samples, for ever.
pub async fn keep_history(api: Arc<Api>) -> impl Future<Output = ()> {
    look(&api).await;
    async move {
        loop {
            tokio::time::sleep(EVERY).await;
            look(&api).await;
        }
    }
}

async fn look(api: &Arc<Api>) {
    let figures = metrics::read(api).await;
    alerts::look(api, &figures);
    let caches = api.feed().caches();
    let hits = caches.iter().map(|(_, cache)| cache.hits).sum();
    let misses = caches.iter().map(|(_, cache)| cache.misses).sum();
    api.observed.history.add(State { at: now(), figures, look_ups: [hits, misses] });
}
