//! `GET /metrics`: the figures of the server, in the text format of Prometheus.
//!
//! Each figure is kept beside the thing it counts, and named here. Reading waits for no disk; see [`DiskFigures`].

mod cluster;
mod storage;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::figures::disk::DiskFigures;
use crate::figures::page::{Family, Page, by, figures};
use crate::figures::reading::Reading;
use crate::figures::requests::CLASSES;
use crate::figures::webhooks::WebhookState;
use crate::nodes::peers::Peers;
use crate::prelude::*;
use ::cluster::Status;
use feed::standbys::KnownStandby;
use model::CacheUsage;
use model::clock::now;

endpoints! { "operations":
    /// All figures, for Prometheus
    get("/metrics", metrics, "getMetrics")
        .answers_text("Figures in the text format of Prometheus", "text/plain", "tideline_pending_items 0\n")
        .for_metrics_keys()
        .always()
        .never_waits();
}

/// `GET /metrics`
async fn metrics(call: Call) -> Answer {
    page(&call.api).await.answer()
}

/// The figures as this server itself reads them.
pub(super) async fn read(api: &Arc<Api>) -> Reading {
    Reading::of(&page(api).await.0)
}

async fn page(api: &Arc<Api>) -> Page {
    let scrape = Scrape { sample: api.sample().await, node: api.sample_node().await, api };
    let mut page = Page::new();
    scrape.figures(&mut page);
    page
}

/// The state that one page shows.
struct Scrape<'a> {
    api: &'a Api,
    sample: Option<DiskFigures>,
    node: Option<Status>,
}

impl Scrape<'_> {
    fn figures(&self, page: &mut Page) {
        let of_all = [Self::jobs, Self::changes, Self::workers, Self::limits, Self::rates, Self::streaming];
        let others = [Self::requests, Self::caches, Self::backups, Self::standbys, Self::webhooks];
        of_all.into_iter().chain(others).for_each(|figures| figures(self, page));
        self.api.observed.reloads.figures(page);
        if let Some(node) = &self.api.node {
            let forwarded = self.api.peers.as_ref().map(Peers::figures).unwrap_or_default();
            let place = (&*node.log_id(), node.position());
            cluster::figures(page, place, self.node.as_ref(), node.read_index_waits(), forwarded);
        }
        let age = self.api.observed.sampler.age(self.sample.as_ref().map(|sample| sample.at));
        figures! { page =>
            /// Age of the figures of the store and the process; above 1 if the disk does not answer.
            tideline_storage_sample_age_seconds = age.as_secs_f64();
        }
        if let Some(sample) = &self.sample {
            storage::figures(page, sample, self.api.planned_memory(&sample.engine));
        }
    }

    fn jobs(&self, page: &mut Page) {
        let backlog = self.api.feed().backlog();
        let usage = backlog.usage();
        let (waiting, done) = (usage.waiting, usage.done);
        let kinds = |of: [u64; 3]| ["fan_out", "settle", "rebuild"].into_iter().zip(of);
        figures! { page =>
            /// Jobs running, waiting or parked.
            tideline_jobs = by("kind", kinds([waiting.fan_out, waiting.settle, waiting.rebuild]));
            /// Jobs that failed too often and are tried again much later; pages stay right. The server log has the
            /// causes.
            tideline_parked_jobs = usage.parked;
            /// Places for jobs in use: by jobs, and by open requests that may add jobs.
            tideline_job_places = usage.places.used;
            /// Limit of places for jobs.
            tideline_job_places_limit = usage.places.limit;
            /// Jobs that ended.
            tideline_jobs_done_total = by("kind", kinds([done.fan_out, done.settle, done.rebuild]));
            /// Time for which the oldest job has been running or waiting; 0 without jobs.
            tideline_job_oldest_age_seconds = backlog.oldest().unwrap_or_default().as_secs_f64();
            /// Seconds from the publish of an item until it is in the inboxes of all followers who get it.
            tideline_delivery_lag_seconds = backlog.lag();
            /// Settle jobs without work, because a newer job of the same pair existed.
            tideline_jobs_coalesced_total = usage.coalesced;
            /// Rebuilds put off because too many jobs were waiting.
            tideline_rebuilds_put_off_total = usage.put_off;
            /// Items of the command log that found no room for a fan-out job: reads take them from outboxes.
            tideline_fan_outs_left_out_total = usage.left_out;
            /// Items whose fan-out has not ended.
            tideline_pending_items = usage.pending_items;
            /// Pairs of a user and an author whose settle job has not ended.
            tideline_unsettled_pairs = usage.unsettled_pairs;
        }
    }

    fn changes(&self, page: &mut Page) {
        let usage = self.api.feed().changes_usage();
        figures! { page =>
            /// Changes that wait to be made.
            tideline_changes_waiting = usage.waiting.used;
            /// Limit of changes that wait.
            tideline_changes_waiting_limit = usage.waiting.limit;
            /// Changes answered, also those without an effect; not those of a command log.
            tideline_changes_total = usage.changes;
            /// Groups of changes. A group is one write, or none if it has no new row.
            tideline_change_groups_total = usage.groups;
        }
    }

    /// What workers have done, and what is left to reads.
    fn workers(&self, page: &mut Page) {
        let usage = self.api.observed.workers.usage();
        figures! { page =>
            /// Items published, comments included.
            tideline_published_items_total = self.api.feed().published();
            /// Entries written into inboxes by fan-outs.
            tideline_deliveries_total = usage.deliveries;
            /// Chunks of followers written by fan-outs.
            tideline_fan_out_chunks_total = usage.chunks;
            /// Entries written into inboxes, or removed from them, because of follows and unfollows.
            tideline_settled_entries_total = usage.settled;
            /// Entries moved by trims from outboxes to their archive.
            tideline_outbox_rows_archived_total = usage.archived;
            /// Items moved by trims from lists of topics to their archive.
            tideline_topic_rows_archived_total = usage.topics_archived;
            /// Deleted items purged by compactions.
            tideline_purged_total = usage.purged;
            /// Inboxes dropped because their users did not read for timeline.evict_after.
            tideline_inboxes_evicted_total = usage.evicted;
            /// Failed attempts of a job, of a trim or of a search for idle users; each is repeated.
            tideline_job_failures_total = usage.failures;
            /// Outboxes, topics and deleted items waiting for a trim or a purge.
            tideline_trim_candidates = usage.candidates.used;
            /// Limit of waiting trims and purges.
            tideline_trim_candidates_limit = usage.candidates.limit;
            /// Requests for a trim or a purge dropped because the queue was full; the next compaction repeats them.
            tideline_trim_candidates_left_out_total = usage.left_out;
            /// Outboxes that a read of a home timeline looked into.
            tideline_timeline_read_pulls = self.api.feed().pulls();
        }
    }

    fn backups(&self, page: &mut Page) {
        let figures = self.api.backups.figures();
        let count = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        figures! { page =>
            /// Backups taken.
            tideline_backups_taken_total = count(&figures.taken);
            /// Backups that could not be taken, and backups that are not good.
            tideline_backup_failures_total = count(&figures.failed);
            /// The time when the newest verified backup began, in seconds since 1970; 0 if there is none.
            tideline_backup_newest_verified_timestamp_seconds = count(&figures.newest_verified) / 1000;
            /// The time when the newest backup began that tideline backup --to has copied, in seconds since 1970; 0 if
            /// there is none.
            tideline_backup_newest_copied_timestamp_seconds = count(&figures.newest_copied) / 1000;
            /// Copies by tideline backup --to that failed.
            tideline_backup_copy_failures_total = count(&figures.copies_failed);
        }
    }

    fn webhooks(&self, page: &mut Page) {
        let known: Vec<_> = self.api.observed.webhooks.iter().map(|webhook| webhook.now()).collect();
        let own = |figure: fn(&WebhookState) -> u64| by("webhook", known.iter().map(move |of| (&*of.name, figure(of))));
        figures! { page =>
            /// The age of the oldest change that a webhook has not taken.
            tideline_webhook_lag_seconds = own(|of| of.lag_seconds);
            /// Changes that a webhook has taken.
            tideline_webhook_changes_total = own(|of| of.taken);
            /// Requests to a webhook that failed.
            tideline_webhook_failures_total = own(|of| of.failures);
            /// How often changes that a webhook had not taken were gone from the feed.
            tideline_webhook_gaps_total = own(|of| of.gaps);
        }
    }

    fn standbys(&self, page: &mut Page) {
        let known = self.api.standbys.list(self.api.feed().store()).unwrap_or_default();
        let own = |figure: fn(&KnownStandby) -> u64| by("standby", known.iter().map(move |of| (&*of.name, figure(of))));
        figures! { page =>
            /// 1 if the standby follows at present.
            tideline_standby_following = own(|of| of.following_since.is_some().into());
            /// Rows of the log that the standby lacks.
            tideline_standby_behind_rows = own(|of| of.behind_rows);
            /// Bytes of the log that the standby was not sent yet, about.
            tideline_standby_behind_bytes = own(|of| of.behind_bytes);
            /// Seconds for which the standby has lacked rows; 0 if it has all.
            tideline_standby_behind_seconds = own(|of| of.behind_ms.div_ceil(1000));
            /// 1 after a hand-over: a standby has taken over.
            tideline_handed_over = self.api.standbys.has_handed_over();
        }
    }

    /// Use of the limits, and refusals.
    fn limits(&self, page: &mut Page) {
        let (limits, feed) = (&self.api.limits, self.api.feed());
        let inner = [
            ("jobs", feed.backlog().usage().refused),
            ("writer", feed.changes_usage().refused),
            ("streams_of_user", feed.streaming().streams().usage().refused),
            ("times", feed.times_refused()),
        ];
        let others = limits.all().map(|(name, gate)| (name, gate.refused()));
        figures! { page =>
            /// Open connections.
            tideline_http_connections = limits.connections.fill().used;
            /// Limit of connections; requests on further connections are answered 503.
            tideline_http_connections_limit = limits.connections.fill().limit;
            /// Requests waiting for the disk or using it.
            tideline_http_blocked_requests = limits.disk.blocked.fill().used;
            /// Limit of requests waiting for the disk or using it.
            tideline_http_blocked_requests_limit = limits.disk.blocked.fill().limit;
            /// Changes waiting for the disk or using it.
            tideline_http_blocked_changes = limits.disk.changes.fill().used;
            /// Limit of changes waiting for the disk or using it.
            tideline_http_blocked_changes_limit = limits.disk.changes.fill().limit;
            /// Running comparisons of timelines (verify).
            tideline_http_audits = limits.disk.audits.fill().used;
            /// Limit of running comparisons of timelines (verify).
            tideline_http_audits_limit = limits.disk.audits.fill().limit;
            /// Backups being sent to clients.
            tideline_http_downloads = limits.downloads.fill().used;
            /// Limit of backups being sent to clients at once.
            tideline_http_downloads_limit = limits.downloads.fill().limit;
            /// Memory used by connections with large heads.
            tideline_http_head_memory_bytes = limits.heads.fill().used;
            /// Limit of memory for large heads.
            tideline_http_head_memory_limit_bytes = limits.heads.fill().limit;
            /// Memory used by the bodies of single changes.
            tideline_http_body_memory_bytes = limits.bodies.small.fill().used;
            /// Limit of memory for the bodies of single changes.
            tideline_http_body_memory_limit_bytes = limits.bodies.small.fill().limit;
            /// Memory used by large batches and their answers.
            tideline_http_batch_memory_bytes = limits.bodies.large.fill().used;
            /// Limit of memory for large batches and their answers.
            tideline_http_batch_memory_limit_bytes = limits.bodies.large.fill().limit;
            /// Memory used by large answers that are not sent yet.
            tideline_http_answer_memory_bytes = limits.answers.fill().used;
            /// Limit of memory for large answers.
            tideline_http_answer_memory_limit_bytes = limits.answers.fill().limit;
            /// Requests refused because a limit was reached, by the limit; for full="connections", connections.
            tideline_overloaded_total = by("full", inner.into_iter().chain(others));
        }
    }

    /// Refusals of limits of requests a second, and the senders in memory.
    fn rates(&self, page: &mut Page) {
        let rates = &self.api.admission.rates;
        figures! { page =>
            /// Requests refused because their sender sent too many, by the limit.
            tideline_rate_limited_total = by("of", rates.refused());
            /// Senders whose requests are counted, by the limit.
            tideline_limited_senders = by("of", rates.buckets());
        }
    }

    /// Online users and streams.
    fn streaming(&self, page: &mut Page) {
        let streaming = self.api.feed().streaming();
        let (streams, now) = (streaming.streams().usage(), now());
        let heartbeats = streaming.presence().heartbeats(now);
        figures! { page =>
            /// Open streams, of users and of changes.
            tideline_streams = streams.open + self.api.streams_of_changes();
            /// Limit of open streams.
            tideline_streams_limit = self.api.limits.streams.fill().limit;
            /// Users whose first stream is being opened and whose list of authors is being read.
            tideline_stream_readers_stale = streams.opening;
            /// Events put into streams; an event for two streams counts twice.
            tideline_stream_events_total = streams.events;
            /// Resets sent because a client read too slowly and lost events.
            tideline_stream_resets_total = streams.resets;
            /// Memory used by events waiting for clients.
            tideline_stream_memory_bytes = streams.memory.used;
            /// Limit of memory for waiting events; above it a slow client loses its waiting events.
            tideline_stream_memory_limit_bytes = streams.memory.limit;
            /// Users with a heartbeat or an open stream.
            tideline_users_online = streaming.presence().users(now) as u64;
            /// Users with a heartbeat that has not run out.
            tideline_heartbeats = heartbeats.used;
            /// Limit of users with a heartbeat.
            tideline_heartbeats_limit = heartbeats.limit;
        }
    }

    fn requests(&self, page: &mut Page) {
        let routes = self.api.observed.requests.all();
        let counts = routes.iter().flat_map(|route| {
            let classes = CLASSES.into_iter().zip(&route.classes);
            classes.map(|(class, count)| {
                ([("route", route.path), ("method", route.method), ("status", class)], count.get())
            })
        });
        let seconds = routes.iter().map(|route| ([("route", route.path), ("method", route.method)], &route.seconds));
        figures! { page =>
            /// Answered requests, by route, method and class of status.
            tideline_http_requests_total = Family(counts);
            /// Requests that were refused or failed, by the code of their problem.
            tideline_http_problems_total = by("code", self.api.observed.requests.problems());
            /// Seconds from the head of a request until its answer is ready to be sent.
            tideline_http_request_duration_seconds = Family(seconds);
            /// Requests that took longer than server.request_timeout.
            tideline_http_requests_timed_out_total = self.api.limits.timed_out.load(Ordering::Relaxed);
        }
    }

    fn caches(&self, page: &mut Page) {
        let mut caches = self.api.feed().caches().to_vec();
        caches.extend([("pages", self.api.kept_pages.usage()), ("tokens", self.api.admission.gate.tokens())]);
        for memory in self.sample.iter().map(|sample| &sample.memory) {
            caches.extend(memory.caches.iter().copied());
        }
        let blocks = self.sample.iter().map(|sample| ("blocks", sample.engine.block_cache));
        let bytes = || caches.iter().map(|(name, cache)| (*name, cache.bytes)).chain(blocks.clone());
        let own = |figure: fn(&CacheUsage) -> u64| caches.iter().map(move |(name, cache)| (*name, figure(cache)));
        figures! { page =>
            /// Memory used by a cache.
            tideline_cache_bytes = by("cache", bytes().map(|(name, fill)| (name, fill.used)));
            /// Limit of memory for a cache.
            tideline_cache_limit_bytes = by("cache", bytes().map(|(name, fill)| (name, fill.limit)));
            /// Entries in a cache.
            tideline_cache_entries = by("cache", own(|cache| cache.entries));
            /// Look-ups in a cache with a result.
            tideline_cache_hits_total = by("cache", own(|cache| cache.hits));
            /// Look-ups in a cache without a result.
            tideline_cache_misses_total = by("cache", own(|cache| cache.misses));
            /// Entries removed from a cache to make room for others.
            tideline_cache_evictions_total = by("cache", own(|cache| cache.evictions));
        }
    }
}
