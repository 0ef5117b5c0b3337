//! Health, and the main figures of the server.

use std::collections::BTreeMap;

use crate::figures::disk::DiskFigures;
use crate::nodes::peers::FORWARDED;
use crate::prelude::*;
use feed::standbys::KnownStandby;

endpoints! { "operations" = "Health, figures, checks and documentation, for operators":
    /// Whether the process runs
    get("/healthz", healthz, "getHealth")
        .answers::<Health>(200, "The process runs")
        .always()
        .open()
        .of_any_host()
        .never_waits();

    /// Whether the server accepts requests
    get("/readyz", readyz, "getReadiness")
        .answers::<Health>(200, "The server accepts requests")
        .shows("Health/ready")
        .refuses(&[Code::Stopping, Code::StorageStopped, Code::HandingOver])
        .always()
        .open()
        .of_any_host()
        .never_waits();

    /// The main figures of the server
    get("/v1/admin/stats", stats, "getStats")
        .answers::<Stats>(200, "The main figures")
        .of_this_server()
        .refuses(&[Code::Overloaded])
        .never_waits();
}

answers! {
    /// The state of the server: `ok` or `ready`.
    struct Health {
        status: &'static str,
    }

    /// The main figures of the server, with the names of `/metrics` without the prefix `tideline_`.
    struct Stats (api: &Api, sample: DiskFigures, standbys: Vec<KnownStandby>) {
        let backlog = api.feed().backlog().usage();
        let tables = sample.engine.tables.iter();
        (version: &'static str) = env!("CARGO_PKG_VERSION");
        (jobs: Jobs) = Jobs::new(api);
        /// Items whose fan-out has not ended.
        (pending_items: u64) = backlog.pending_items;
        /// Pairs of a user and an author whose settle job has not ended.
        (unsettled_pairs: u64) = backlog.unsettled_pairs;
        /// Entries written into inboxes by fan-outs.
        (deliveries: u64) = api.observed.workers.tally.deliveries.get();
        /// Bytes of the write-ahead log.
        (log_bytes: u64) = sample.engine.log.used;
        /// The standbys that have called lately.
        (standbys: Vec<KnownStandby>) = standbys;
        /// The size of each table, by its name.
        (tables: BTreeMap<&'static str, Figures> as HashMap<String, Figures>) = tables.map(|of| (of.table, Figures { rows_estimate: of.rows, bytes: of.bytes })).collect();
    }

    /// The queue of jobs.
    struct Jobs (api: &Api) {
        let backlog = api.feed().backlog().usage();
        /// Places in use: by running and waiting jobs, and by open requests that may add jobs.
        (waiting: u64) = backlog.places.used;
        /// The limit of places.
        (limit: u64) = backlog.places.limit;
        /// Fan-outs running or waiting.
        (fan_out: u64) = backlog.waiting.fan_out;
        /// Settle jobs running or waiting.
        (settle: u64) = backlog.waiting.settle;
        /// Rebuilds running or waiting.
        (rebuild: u64) = backlog.waiting.rebuild;
        /// Settle jobs without work, because a newer job of the same pair existed.
        (coalesced: u64) = backlog.coalesced;
        /// Changes refused because the queue was full.
        (refused: u64) = backlog.refused;
        /// Failed attempts; each is repeated.
        (failures: u64) = api.observed.workers.tally.failures.get();
    }

    /// The size of one table.
    struct Figures {
        /// An estimate: rows that were replaced or removed may count until a compaction.
        rows_estimate: u64,
        bytes: u64,
    }
}

/// `GET /healthz`: the process is up.
pub(crate) async fn healthz(_: Call) -> Answer {
    reply::ok(&Health { status: "ok" })
}

/// `GET /readyz`: the server accepts requests. It stays ready when the device is full: reads go on, and a restart would
/// not help.
pub(crate) async fn readyz(call: Call) -> Answer {
    if call.api.standbys.has_handed_over() {
        return Err(Code::HandingOver.into());
    }
    if call.api.is_draining() {
        return Err(Code::Stopping.into());
    }
    if call.api.feed().store().disk().is_ok_and(|disk| disk.health.has_ended()) {
        return Err(Code::StorageStopped.into());
    }
    if let Some(node) = &call.api.node {
        let health = node.health();
        health.is_ready()?;
        // If all nodes are slow, it helps nobody to take one away. Another node that asks wants this one's word.
        let is_asked_by_another = call.request.headers().contains_key(FORWARDED);
        if health == cluster::Health::Slow && (is_asked_by_another || is_another_ready(&call).await) {
            let detail = "changes and strict reads wait for longer than a second at this node";
            return Err(Error::refused(Code::LogUnavailable, detail));
        }
    }
    reply::ok(&Health { status: "ready" })
}

async fn is_another_ready(call: &Call) -> bool {
    match &call.api.peers {
        Some(peers) => peers.is_another_ready().await,
        None => false,
    }
}

/// `GET /v1/admin/stats`
pub(crate) async fn stats(call: Call) -> Answer {
    let sample = call.api.sample().await.ok_or(Code::Overloaded)?;
    let standbys = call.api.standbys.list(call.api.feed().store())?;
    reply::ok(&Stats::new(&call.api, sample, standbys))
}
