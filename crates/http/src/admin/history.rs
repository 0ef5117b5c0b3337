//! `GET /v1/admin/history`: the main figures of the last hour, and how they are taken.

use std::sync::Arc;
use std::time::Duration;

use super::{alerts, metrics};
use crate::api::Api;
use crate::endpoint::parameters::{number, optional};
use crate::figures::history::{Sample, State};
use crate::prelude::*;
use model::clock::now;

/// The time between two samples.
const EVERY: Duration = Duration::from_secs(5);
/// The greatest time that every client of JSON can write.
const LATEST: usize = (1 << 53) - 1;

endpoints! { "operations":
    let sample = json!({
        "at": 1_795_357_800_123_u64, "requests_ok": 1200.0, "requests_refused": 0.2, "requests_failed": 0.0,
        "problems": {"content_not_found": 1}, "answer_p50": 0.000_2, "answer_p99": 0.002, "published": 12.0,
        "deliveries": 4800.0, "delivery_lag_p50": 0.004, "delivery_lag_p99": 0.02, "stream_events": 31.0,
        "cache_hit_ratio": 0.98, "processor": 0.4, "jobs": 3, "oldest_job": 0.01, "pending_items": 2, "streams": 40,
        "users_online": 38, "connections": 64, "table_bytes": 3_000_000_000_u64, "log_bytes": 40_960,
        "memtable_bytes": 8_388_608, "compactions": 0, "compaction_pending_bytes": 0, "fresh_files": 2, "stalls": 0,
        "device_bytes": 30_000_000_000_u64, "device_limit_bytes": 100_000_000_000_u64, "memory_bytes": 200_000_000
    });

    /// The main figures of the last hour
    ///
    /// A sample every five seconds, oldest first. They are in memory: a restart begins anew.
    get("/v1/admin/history", history, "getHistory")
        .query([optional("after", "Only samples after this time, in milliseconds since 1970", number(1, LATEST, 1))])
        .answers_items::<Sample>(200, "History", "The samples", sample)
        .of_this_server()
        .never_waits();
}

/// `GET /v1/admin/history`
async fn history(call: Call) -> Answer {
    let after = call.query()?.number("after", LATEST)?.unwrap_or_default();
    let samples = call.api.observed.history.after(after as Millis);
    let items: Vec<&Sample> = samples.iter().map(Arc::as_ref).collect();
    reply::items(&items)
}

/// Takes a sample from time to time, for ever.
pub async fn keep_history(api: Arc<Api>) {
    loop {
        let figures = metrics::read(&api).await;
        alerts::look(&api, &figures);
        let caches = api.feed().caches();
        let hits = caches.iter().map(|(_, cache)| cache.hits).sum();
        let misses = caches.iter().map(|(_, cache)| cache.misses).sum();
        api.observed.history.add(State { at: now(), figures, look_ups: [hits, misses] });
        tokio::time::sleep(EVERY).await;
    }
}
