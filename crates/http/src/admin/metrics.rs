//! `GET /metrics`: the figures of the server, in the text format of Prometheus.
//!
//! Each figure is declared beside the thing that it counts, or here. Reading waits for no disk; see [`DiskFigures`].

mod cluster;
mod storage;

use crate::figures::disk::DiskFigures;
use crate::figures::prometheus_text;
use crate::figures::reading::Reading;
use crate::figures::requests::CLASSES;
use crate::figures::webhooks::WebhookState;
use crate::nodes::peers::Peers;
use crate::prelude::*;
use ::cluster::Status;
use feed::standbys::KnownStandby;
use model::clock::now;
use model::metrics::{Family, Page, by};
use model::{CacheUsage, figures};

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
    prometheus_text::answer(figures_of(&call.api).await)
}

/// The figures as this server itself reads them.
pub(super) async fn read(api: &Arc<Api>) -> Reading {
    Reading::of(&figures_of(api).await.0)
}

/// The figures of now.
pub(super) async fn figures_of(api: &Arc<Api>) -> Page {
    let scrape = Scrape { sample: api.sample().await, node: api.sample_node().await, api };
    let mut page = Page::default();
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
        self.api.feed().write_figures(page);
        self.api.observed.workers.write(page);
        self.api.backups.write_figures(page);
        let own =
            [Self::limits, Self::rates, Self::streaming, Self::requests, Self::caches, Self::standbys, Self::webhooks];
        own.into_iter().for_each(|figures| figures(self, page));
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

    fn webhooks(&self, page: &mut Page) {
        let known: Vec<_> = self.api.observed.webhooks.iter().map(|webhook| webhook.lock().now()).collect();
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
        let limits = &self.api.limits;
        let inner = self.api.feed().refused();
        let others = limits.all().map(|(name, gate)| (name, gate.refused()));
        figures! { page =>
            /// Open connections.
            tideline_http_connections = limits.connections.fill();
            /// Requests waiting for the disk or using it.
            tideline_http_blocked_requests = limits.disk.blocked.fill();
            /// Changes waiting for the disk or using it.
            tideline_http_blocked_changes = limits.disk.changes.fill();
            /// Running comparisons of timelines (verify).
            tideline_http_audits = limits.disk.audits.fill();
            /// Backups being sent to clients.
            tideline_http_downloads = limits.downloads.fill();
            /// Memory used by connections with large heads.
            tideline_http_head_memory_bytes = limits.heads.fill();
            /// Memory used by the bodies of single changes.
            tideline_http_body_memory_bytes = limits.bodies.small.fill();
            /// Memory used by large batches and their answers.
            tideline_http_batch_memory_bytes = limits.bodies.large.fill();
            /// Memory used by large answers that are not sent yet.
            tideline_http_answer_memory_bytes = limits.answers.fill();
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
        let now = now();
        figures! { page =>
            /// Open streams, of users and of changes.
            tideline_streams = streaming.streams().open_now() + self.api.streams_of_changes();
            /// Limit of open streams.
            tideline_streams_limit = self.api.limits.streams.fill().limit;
            /// Users with a heartbeat or an open stream.
            tideline_users_online = streaming.presence().users(now) as u64;
            /// Users with a heartbeat that has not run out.
            tideline_heartbeats = streaming.presence().heartbeats(now);
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
            tideline_http_requests_timed_out_total = &self.api.limits.timed_out;
        }
    }

    fn caches(&self, page: &mut Page) {
        let feed = self.api.feed();
        let mut caches = [&feed.caches()[..], &feed.store().caches()].concat();
        caches.extend([("pages", self.api.kept_pages.usage()), ("tokens", self.api.admission.gate.tokens())]);
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
