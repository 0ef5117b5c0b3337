//! The main figures of the last hour, for operators without a monitoring system.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Serialize;
use utoipa::ToSchema;

use super::disk::DiskFigures;
use super::requests::CLASSES;
use crate::api::Api;
use model::clock::now;
use model::{Distribution, Millis, Time};

/// The time between two samples, and how many are kept.
const EVERY: Duration = Duration::from_secs(5);
const KEPT: usize = 720;

/// The samples, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    last: Option<Counters>,
    samples: VecDeque<Arc<Sample>>,
}

impl History {
    /// Those after a time.
    pub(crate) fn after(&self, time: Millis) -> Vec<Arc<Sample>> {
        let taken = self.0.lock();
        let first = taken.samples.partition_point(|sample| sample.at <= time);
        taken.samples.range(first..).cloned().collect()
    }

    fn add(&self, counters: Counters, gauges: Gauges) {
        let mut taken = self.0.lock();
        if let Some(last) = taken.last.take().filter(|last| last.at < counters.at) {
            if taken.samples.len() == KEPT {
                taken.samples.pop_front();
            }
            taken.samples.push_back(Arc::new(counters.since(&last, gauges)));
        }
        taken.last = Some(counters);
    }
}

/// Takes a sample from time to time, for ever.
pub(crate) async fn keep(api: Arc<Api>) {
    loop {
        let sample = api.sample().await;
        let (counters, gauges) = (Counters::of(&api, sample.as_ref()), Gauges::of(&api, sample.as_ref()));
        api.history.add(counters, gauges);
        tokio::time::sleep(EVERY).await;
    }
}

/// Numbers that only grow, at a time.
#[derive(Debug, Default)]
struct Counters {
    at: Millis,
    requests: [u64; CLASSES.len()],
    problems: BTreeMap<&'static str, u64>,
    answers: Distribution,
    published: u64,
    deliveries: u64,
    lag: Distribution,
    stream_events: u64,
    cache_hits: u64,
    cache_misses: u64,
    processor_seconds: f64,
}

impl Counters {
    fn of(api: &Api, sample: Option<&DiskFigures>) -> Self {
        let (feed, mut requests, mut answers) = (api.feed(), [0; CLASSES.len()], Distribution::default());
        for route in api.requests.all() {
            requests.iter_mut().zip(&route.classes).for_each(|(sum, class)| *sum += class.get());
            answers.add(&route.seconds.read());
        }
        let caches = feed.caches();
        Self {
            at: now(),
            requests,
            problems: api.requests.problems().collect(),
            answers,
            published: feed.published(),
            deliveries: api.workers.usage().deliveries,
            lag: feed.backlog().lag().read(),
            stream_events: feed.streaming().streams().usage().events,
            cache_hits: caches.iter().map(|(_, cache)| cache.hits).sum(),
            cache_misses: caches.iter().map(|(_, cache)| cache.misses).sum(),
            processor_seconds: sample.map_or(0.0, |sample| sample.process.processor_seconds),
        }
    }

    /// What came after earlier ones.
    fn since(&self, last: &Self, gauges: Gauges) -> Sample {
        let seconds = (self.at - last.at) as f64 / 1000.0;
        let rate = |now: u64, before: u64| rounded(now.saturating_sub(before) as f64 / seconds);
        let [ok, refused, failed] = [0, 1, 2].map(|class| rate(self.requests[class], last.requests[class]));
        let new = |(code, count): (&&'static str, &u64)| (*code, count - last.problems.get(code).unwrap_or(&0));
        let (answers, lag) = (self.answers.since(&last.answers), self.lag.since(&last.lag));
        let quantile = |of: &Distribution, part| of.quantile(part).map(rounded);
        let (hits, misses) = (self.cache_hits - last.cache_hits, self.cache_misses - last.cache_misses);
        Sample {
            at: self.at,
            requests_ok: ok,
            requests_refused: refused,
            requests_failed: failed,
            problems: self.problems.iter().map(new).filter(|(_, count)| *count > 0).collect(),
            answer_p50: quantile(&answers, 0.5),
            answer_p99: quantile(&answers, 0.99),
            published: rate(self.published, last.published),
            deliveries: rate(self.deliveries, last.deliveries),
            delivery_lag_p50: quantile(&lag, 0.5),
            delivery_lag_p99: quantile(&lag, 0.99),
            stream_events: rate(self.stream_events, last.stream_events),
            cache_hit_ratio: (hits + misses > 0).then(|| rounded(hits as f64 / (hits + misses) as f64)),
            processor: rounded((self.processor_seconds - last.processor_seconds).max(0.0) / seconds),
            gauges,
        }
    }
}

/// The figures of a few seconds. Rates are for each second, times are seconds, sizes are bytes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FiguresSample)]
pub(crate) struct Sample {
    /// When they ended.
    #[schema(value_type = Time)]
    pub(crate) at: Millis,
    requests_ok: f64,
    /// Requests answered with a status of 400 to 499.
    requests_refused: f64,
    /// Requests answered with a status of 500 or more.
    requests_failed: f64,
    /// The number of refused and failed requests by the code of their problem.
    #[schema(value_type = HashMap<String, u64>)]
    problems: BTreeMap<&'static str, u64>,
    /// The time until an answer; missing without requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    answer_p50: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    answer_p99: Option<f64>,
    /// Items published.
    published: f64,
    /// Entries written into inboxes.
    deliveries: f64,
    /// The time from a publish until its last delivery; missing without publishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    delivery_lag_p50: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) delivery_lag_p99: Option<f64>,
    stream_events: f64,
    /// The part of look-ups that caches answered; missing without look-ups.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cache_hit_ratio: Option<f64>,
    /// Processors in use.
    processor: f64,
    #[serde(flatten)]
    gauges: Gauges,
}

impl Sample {
    /// Whether a request was answered with a problem of this code.
    pub(crate) fn has_problem(&self, code: &str) -> bool {
        self.problems.contains_key(code)
    }

    /// Places for jobs in use.
    pub(crate) fn jobs(&self) -> u64 {
        self.gauges.jobs
    }

    /// How often the engine has slowed changes down or held them back since the start.
    pub(crate) fn stalls(&self) -> u64 {
        self.gauges.stalls
    }

    /// Bytes of memory in use.
    pub(crate) fn memory(&self) -> u64 {
        self.gauges.memory_bytes
    }
}

/// Figures of an instant.
#[derive(Debug, Default, Serialize, ToSchema)]
struct Gauges {
    /// Places for jobs in use.
    jobs: u64,
    /// The age of the oldest job.
    oldest_job: f64,
    /// Items whose fan-out has not ended.
    pending_items: u64,
    streams: u64,
    users_online: u64,
    connections: u64,
    /// Bytes of all tables.
    table_bytes: u64,
    log_bytes: u64,
    memtable_bytes: u64,
    compactions: u64,
    compaction_pending_bytes: u64,
    fresh_files: u64,
    /// How often the engine has slowed changes down or held them back since the start.
    stalls: u64,
    device_bytes: u64,
    device_limit_bytes: u64,
    memory_bytes: u64,
}

impl Gauges {
    fn of(api: &Api, sample: Option<&DiskFigures>) -> Self {
        let (feed, now) = (api.feed(), now());
        let (backlog, streaming) = (feed.backlog(), feed.streaming());
        let usage = backlog.usage();
        let of_feed = Self {
            jobs: usage.places.used,
            oldest_job: rounded(backlog.oldest().unwrap_or_default().as_secs_f64()),
            pending_items: usage.pending_items,
            streams: streaming.streams().usage().open + api.streams_of_changes(),
            users_online: streaming.presence().users(now) as u64,
            connections: api.limits.connections.fill().used,
            ..Self::default()
        };
        let Some(DiskFigures { store, process, .. }) = sample else { return of_feed };
        Self {
            table_bytes: store.tables.iter().map(|table| table.bytes).sum(),
            log_bytes: store.log.used,
            memtable_bytes: store.write_buffers.used,
            compactions: store.engine.compactions,
            compaction_pending_bytes: store.engine.compaction_debt,
            fresh_files: store.engine.fresh_files,
            stalls: store.engine.slowdowns + store.engine.stops,
            device_bytes: store.device.used,
            device_limit_bytes: store.device.limit,
            memory_bytes: process.resident_bytes.unwrap_or_default(),
            ..of_feed
        }
    }
}

/// To what a chart can show, so that answers are short.
fn rounded(value: f64) -> f64 {
    if value >= 1.0 { (value * 1000.0).round() / 1000.0 } else { (value * 1e6).round() / 1e6 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at: Millis, published: u64) -> Counters {
        Counters { at, published, problems: BTreeMap::from([("overloaded", published)]), ..Counters::default() }
    }

    #[test]
    fn samples_are_what_came_between() {
        let history = History::default();
        history.add(at(1000, 10), Gauges::default());
        assert!(history.after(0).is_empty(), "a rate needs two readings");
        history.add(at(3000, 13), Gauges { jobs: 7, ..Gauges::default() });
        history.add(at(3000, 13), Gauges::default());
        history.add(at(5000, 13), Gauges::default());
        let [first, second] = &history.after(0)[..] else { panic!("two samples") };
        assert_eq!((first.published, first.gauges.jobs, first.problems.get("overloaded")), (1.5, 7, Some(&3)));
        assert_eq!((second.published, second.problems.len(), second.answer_p50), (0.0, 0, None));
        assert_eq!(history.after(3000).len(), 1);
        assert!(history.after(5000).is_empty());
    }

    #[test]
    fn the_oldest_go() {
        let history = History::default();
        (0..2 * KEPT as u64).for_each(|n| history.add(at(1000 * n, n), Gauges::default()));
        let kept = history.after(0);
        assert_eq!((kept.len(), kept[0].at), (KEPT, 1000 * KEPT as u64));
    }
}
