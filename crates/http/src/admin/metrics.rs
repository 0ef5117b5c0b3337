//! `GET /metrics`: the figures of the server, in the text format of Prometheus.
//!
//! Each figure is kept beside the thing it counts, and named here. Reading waits for no disk; see [`DiskFigures`].

mod cluster;
mod page;
mod storage;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use actix_web::HttpResponseBuilder;
use actix_web::http::StatusCode;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::metrics::MetricType::{Counter, Histogram};
use prometheus_client::registry::Registry;

use self::page::{Page, distribution};
use super::disk_figures::DiskFigures;
use crate::api::Api;
use crate::call::Call;
use crate::endpoint::{Endpoint, get, group};
use crate::nodes::peers::Peers;
use crate::requests::CLASSES;
use crate::wire::problem::Problem;
use crate::wire::reply::Answer;
use ::cluster::Status;
use model::Fill;
use model::clock::now;

/// The text format that every version of Prometheus reads.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The call of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let call = get("/metrics", metrics, "getMetrics", "All figures, for Prometheus")
        .answers_text("Figures in the text format of Prometheus", "text/plain", "tideline_pending_items 0\n")
        .always()
        .never_waits();
    group("operations", [call])
}

/// `GET /metrics`
async fn metrics(call: Call) -> Answer {
    call.no_query()?;
    let (sample, node) = (call.api.sample().await, call.api.sample_node().await);
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Scrape { api: Arc::clone(&call.api), sample, node }));
    let mut page = String::with_capacity(64 << 10);
    text::encode_registry(&mut page, &registry).map_err(Problem::internal)?;
    Ok(HttpResponseBuilder::new(StatusCode::OK).content_type(TEXT).body(page))
}

/// One answer to Prometheus.
#[derive(Debug)]
struct Scrape {
    api: Arc<Api>,
    sample: Option<DiskFigures>,
    node: Option<Status>,
}

impl Collector for Scrape {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page(encoder);
        page.each("tideline_build_info", "The version of the server.", "version", [(env!("CARGO_PKG_VERSION"), 1)])?;
        self.jobs(&mut page)?;
        self.reactions(&mut page)?;
        self.workers(&mut page)?;
        page.histogram(
            "tideline_timeline_read_pulls",
            "Outboxes that a read of a home timeline looked into.",
            self.api.feed().pulls(),
        )?;
        self.limits(&mut page)?;
        self.rates(&mut page)?;
        self.streaming(&mut page)?;
        self.requests(&mut page)?;
        self.caches(&mut page)?;
        self.backups(&mut page)?;
        if let Some(node) = &self.api.node {
            let forwarded = self.api.peers.as_ref().map(Peers::figures).unwrap_or_default();
            cluster::figures(&mut page, node.position(), self.node.as_ref(), node.barriers(), forwarded)?;
        }
        match &self.sample {
            Some(sample) => storage::figures(&mut page, sample),
            None => Ok(()),
        }
    }
}

impl Scrape {
    fn jobs(&self, page: &mut Page<'_>) -> fmt::Result {
        let usage = self.api.feed().backlog().usage();
        let (waiting, done) = (usage.waiting, usage.done);
        let kinds = |of: [u64; 3]| ["fan_out", "settle", "rebuild"].into_iter().zip(of);
        page.each(
            "tideline_jobs",
            "Jobs running, waiting or parked.",
            "kind",
            kinds([waiting.fan_out, waiting.settle, waiting.rebuild]),
        )?;
        page.one(
            "tideline_parked_jobs",
            "Jobs that failed too often and are tried again much later; pages stay right. The server log has the causes.",
            usage.parked,
        )?;
        page.fill(
            "tideline_job_places",
            ["Places for jobs in use: by jobs, and by open requests that may add jobs.", "Limit of places for jobs."],
            usage.places,
        )?;
        page.each(
            "tideline_jobs_done_total",
            "Jobs that ended.",
            "kind",
            kinds([done.fan_out, done.settle, done.rebuild]),
        )?;
        let oldest = self.api.feed().backlog().oldest().unwrap_or_default();
        page.fraction(
            "tideline_job_oldest_age_seconds",
            "Time for which the oldest job has been running or waiting; 0 without jobs.",
            oldest.as_secs_f64(),
        )?;
        page.histogram(
            "tideline_delivery_lag_seconds",
            "Seconds from the publish of an item until it is in the inboxes of all followers who get it.",
            self.api.feed().backlog().lag(),
        )?;
        page.one(
            "tideline_jobs_coalesced_total",
            "Settle jobs without work, because a newer job of the same pair existed.",
            usage.coalesced,
        )?;
        page.one(
            "tideline_rebuilds_put_off_total",
            "Rebuilds put off because too many jobs were waiting.",
            usage.put_off,
        )?;
        page.one(
            "tideline_fan_outs_left_out_total",
            "Items of the command log that found no room for a fan-out job: reads take them from outboxes.",
            usage.left_out,
        )?;
        page.one("tideline_pending_items", "Items whose fan-out has not ended.", usage.pending_items)?;
        page.one(
            "tideline_unsettled_pairs",
            "Pairs of a user and an author whose settle job has not ended.",
            usage.unsettled_pairs,
        )
    }

    fn reactions(&self, page: &mut Page<'_>) -> fmt::Result {
        let usage = self.api.feed().reaction_usage();
        page.fill(
            "tideline_reactions_waiting",
            ["Changes of reactions waiting or being written.", "Limit of changes waiting or being written."],
            usage.waiting,
        )?;
        page.one("tideline_reactions_total", "Changes of reactions answered.", usage.changes)?;
        page.one("tideline_reaction_writes_total", "Writes of changes of reactions to the store.", usage.writes)
    }

    fn workers(&self, page: &mut Page<'_>) -> fmt::Result {
        page.one("tideline_published_items_total", "Items published, comments included.", self.api.feed().published())?;
        let usage = self.api.workers.usage();
        page.one("tideline_deliveries_total", "Entries written into inboxes by fan-outs.", usage.deliveries)?;
        page.one("tideline_fan_out_chunks_total", "Chunks of followers written by fan-outs.", usage.chunks)?;
        page.one(
            "tideline_settled_entries_total",
            "Entries written into inboxes, or removed from them, because of follows and unfollows.",
            usage.settled,
        )?;
        page.one(
            "tideline_outbox_rows_archived_total",
            "Entries moved by trims from outboxes to their archive.",
            usage.archived,
        )?;
        page.one(
            "tideline_topic_rows_archived_total",
            "Items moved by trims from lists of topics to their archive.",
            usage.topics_archived,
        )?;
        page.one("tideline_purged_total", "Deleted items purged by compactions.", usage.purged)?;
        page.one(
            "tideline_inboxes_evicted_total",
            "Inboxes dropped because their users did not read for timeline.evict_after.",
            usage.evicted,
        )?;
        page.one(
            "tideline_job_failures_total",
            "Failed attempts of a job, of a trim or of a search for idle users; each is repeated.",
            usage.failures,
        )?;
        page.fill(
            "tideline_trim_candidates",
            ["Outboxes, topics and deleted items waiting for a trim or a purge.", "Limit of waiting trims and purges."],
            usage.candidates,
        )?;
        page.one(
            "tideline_trim_candidates_left_out_total",
            "Requests for a trim or a purge dropped because the queue was full; the next compaction repeats them.",
            usage.left_out,
        )
    }

    fn backups(&self, page: &mut Page<'_>) -> fmt::Result {
        let (taken, failed, newest) = self.api.backups.figures();
        page.one("tideline_backups_taken_total", "Backups taken.", taken)?;
        page.one(
            "tideline_backup_failures_total",
            "Backups that could not be taken, and backups that are not good.",
            failed,
        )?;
        page.one(
            "tideline_backup_newest_verified_timestamp_seconds",
            "The time when the newest verified backup began, in seconds since 1970; 0 if there is none.",
            newest / 1000,
        )
    }

    /// Use of the limits, and refusals.
    fn limits(&self, page: &mut Page<'_>) -> fmt::Result {
        let limits = &self.api.limits;
        page.fill(
            "tideline_http_connections",
            ["Open connections.", "Limit of connections; requests on further connections are answered 503."],
            limits.connections.fill(),
        )?;
        page.fill(
            "tideline_http_blocked_requests",
            ["Requests waiting for the disk or using it.", "Limit of requests waiting for the disk or using it."],
            limits.blocked.fill(),
        )?;
        page.fill(
            "tideline_http_blocked_changes",
            ["Changes waiting for the disk or using it.", "Limit of changes waiting for the disk or using it."],
            limits.changes.fill(),
        )?;
        page.fill(
            "tideline_http_audits",
            ["Running comparisons of timelines (verify).", "Limit of running comparisons of timelines (verify)."],
            limits.audits.fill(),
        )?;
        page.fill(
            "tideline_http_downloads",
            ["Backups being sent to clients.", "Limit of backups being sent to clients at once."],
            limits.downloads.fill(),
        )?;
        page.fill(
            "tideline_http_head_memory_bytes",
            ["Memory used by connections with large heads.", "Limit of memory for large heads."],
            limits.heads.fill(),
        )?;
        page.fill(
            "tideline_http_body_memory_bytes",
            ["Memory used by the bodies of single changes.", "Limit of memory for the bodies of single changes."],
            limits.bodies.fill(),
        )?;
        page.fill(
            "tideline_http_batch_memory_bytes",
            ["Memory used by large batches and their answers.", "Limit of memory for large batches and their answers."],
            limits.batches.fill(),
        )?;
        page.fill(
            "tideline_http_answer_memory_bytes",
            ["Memory used by large answers that are not sent yet.", "Limit of memory for large answers."],
            limits.answers.fill(),
        )?;
        let feed = self.api.feed();
        let inner = [
            ("jobs", feed.backlog().usage().refused),
            ("reactions", feed.reaction_usage().refused),
            ("streams_of_user", feed.streaming().streams().usage().refused),
            ("times", feed.times_refused()),
        ];
        let others = limits.all().map(|(name, gate)| (name, gate.refused()));
        page.each(
            "tideline_overloaded_total",
            "Requests refused because a limit was reached, by the limit; for full=\"connections\", connections.",
            "full",
            inner.into_iter().chain(others),
        )
    }

    /// Refusals of limits of requests a second, and the senders in memory.
    fn rates(&self, page: &mut Page<'_>) -> fmt::Result {
        let usage = self.api.rates.usage();
        page.each(
            "tideline_rate_limited_total",
            "Requests refused because their sender sent too many, by the limit.",
            "of",
            usage.iter().map(|limit| (limit.of, limit.refused)),
        )?;
        page.each(
            "tideline_limited_senders",
            "Senders whose requests are counted, by the limit.",
            "of",
            usage.iter().map(|limit| (limit.of, limit.buckets)),
        )
    }

    /// Online users and streams.
    fn streaming(&self, page: &mut Page<'_>) -> fmt::Result {
        let streaming = self.api.feed().streaming();
        let (streams, now) = (streaming.streams().usage(), now());
        page.fill(
            "tideline_streams",
            ["Open streams.", "Limit of open streams."],
            Fill { used: streams.open, limit: self.api.limits.streams.fill().limit },
        )?;
        page.one(
            "tideline_stream_readers_stale",
            "Users whose first stream is open and whose list of authors is not read yet.",
            streams.stale,
        )?;
        page.one(
            "tideline_stream_events_total",
            "Events put into streams; an event for two streams counts twice.",
            streams.events,
        )?;
        page.one(
            "tideline_stream_resets_total",
            "Resets sent because a client read too slowly and lost events.",
            streams.resets,
        )?;
        page.fill(
            "tideline_stream_memory_bytes",
            [
                "Memory used by events waiting for clients.",
                "Limit of memory for waiting events; above it a slow client loses its waiting events.",
            ],
            streams.memory,
        )?;
        let online = streaming.presence().users(now) as u64;
        page.one("tideline_users_online", "Users with a heartbeat or an open stream.", online)?;
        page.fill(
            "tideline_heartbeats",
            ["Users with a heartbeat that has not run out.", "Limit of users with a heartbeat."],
            streaming.presence().heartbeats(now),
        )
    }

    fn requests(&self, page: &mut Page<'_>) -> fmt::Result {
        let routes = self.api.requests.all();
        let name = "tideline_http_requests_total";
        let mut family = page.0.encode_descriptor(
            name,
            "Answered requests, by route, method and class of status.",
            None,
            Counter,
        )?;
        for route in &routes {
            for (class, count) in CLASSES.iter().zip(&route.classes) {
                let labels = [("route", route.path), ("method", route.method), ("status", class)];
                family.encode_family(&labels)?.encode_gauge(&count.get())?;
            }
        }
        let name = "tideline_http_request_duration_seconds";
        let help = "Seconds from the head of a request until its answer is ready to be sent.";
        let mut family = page.0.encode_descriptor(name, help, None, Histogram)?;
        for route in &routes {
            let labels = [("route", route.path), ("method", route.method)];
            distribution(&mut family.encode_family(&labels)?, &route.seconds)?;
        }
        page.one(
            "tideline_http_requests_timed_out_total",
            "Requests that took longer than server.request_timeout.",
            self.api.timed_out.load(Ordering::Relaxed),
        )
    }

    fn caches(&self, page: &mut Page<'_>) -> fmt::Result {
        let mut caches = self.api.feed().caches().to_vec();
        caches.push(("tokens", self.api.gate.tokens()));
        for store in self.sample.iter().map(|sample| &sample.store) {
            caches.extend(store.caches.iter().copied());
        }
        let blocks = self.sample.iter().map(|sample| ("blocks", sample.store.block_cache));
        let bytes = || caches.iter().map(|(name, cache)| (*name, cache.bytes)).chain(blocks.clone());
        page.each(
            "tideline_cache_bytes",
            "Memory used by a cache.",
            "cache",
            bytes().map(|(name, fill)| (name, fill.used)),
        )?;
        page.each(
            "tideline_cache_limit_bytes",
            "Limit of memory for a cache.",
            "cache",
            bytes().map(|(name, fill)| (name, fill.limit)),
        )?;
        let own =
            |figure: fn(&model::CacheUsage) -> u64| caches.iter().map(move |(name, cache)| (*name, figure(cache)));
        page.each("tideline_cache_entries", "Entries in a cache.", "cache", own(|cache| cache.entries))?;
        page.each("tideline_cache_hits_total", "Look-ups in a cache with a result.", "cache", own(|cache| cache.hits))?;
        page.each(
            "tideline_cache_misses_total",
            "Look-ups in a cache without a result.",
            "cache",
            own(|cache| cache.misses),
        )?;
        page.each(
            "tideline_cache_evictions_total",
            "Entries removed from a cache to make room for others.",
            "cache",
            own(|cache| cache.evictions),
        )
    }
}
