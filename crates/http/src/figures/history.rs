//! The main figures of the last hour, for operators without a monitoring system.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use super::reading::Reading;
use crate::wire::answers::answers;
use model::{Millis, Time};

/// Samples that are kept.
const KEPT: usize = 720;

/// The samples, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    last: Option<State>,
    samples: VecDeque<Arc<Sample>>,
}

impl History {
    /// Those after a time.
    pub(crate) fn after(&self, time: Millis) -> Vec<Arc<Sample>> {
        let taken = self.0.lock();
        let first = taken.samples.partition_point(|sample| sample.at <= time);
        taken.samples.range(first..).cloned().collect()
    }

    /// Adds the sample of the time since the last reading.
    pub(crate) fn add(&self, now: State) {
        let mut taken = self.0.lock();
        // The clock was set back: what is later than now would hide what comes.
        if taken.last.as_ref().is_some_and(|last| last.at > now.at) {
            taken.samples.clear();
        }
        if let Some(before) = taken.last.take().filter(|last| last.at < now.at) {
            if taken.samples.len() == KEPT {
                taken.samples.pop_front();
            }
            taken.samples.push_back(Arc::new(Sample::new(&Span { now: &now, before: &before })));
        }
        taken.last = Some(now);
    }
}

/// The figures of one reading.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) at: Millis,
    pub(crate) figures: Reading,
    /// The look-ups that caches of the feed have answered, and the others.
    pub(crate) look_ups: [u64; 2],
}

/// The time between two readings.
pub(crate) struct Span<'a> {
    now: &'a State,
    before: &'a State,
}

impl Span<'_> {
    /// How much a figure has risen in a second.
    fn rate(&self, sum: impl Fn(&Reading) -> f64) -> f64 {
        let seconds = (self.now.at - self.before.at) as f64 / 1000.0;
        let [now, before] = [self.now, self.before].map(|of| sum(&of.figures).max(0.0));
        rounded((now - before).max(0.0) / seconds)
    }

    /// Requests a second with a status of this class.
    fn requests(&self, class: &str) -> f64 {
        self.rate(|of| of.sum_of("tideline_http_requests_total", &format!("status=\"{class}\"")))
    }

    /// A whole number as it is; 0 if it is not known.
    fn whole(&self, name: &str) -> u64 {
        self.now.figures.sum(name) as u64
    }

    /// The value below which this part of the new values of a distribution lies.
    fn quantile(&self, name: &str, part: f64) -> Option<f64> {
        self.now.figures.spread(name).since(&self.before.figures.spread(name)).quantile(part).map(rounded)
    }

    fn problems(&self) -> BTreeMap<String, u64> {
        let name = "tideline_http_problems_total";
        let before = |code: &str| self.before.figures.sum_of(name, &format!("\"{code}\"")).max(0.0);
        let new = self.now.figures.by_label(name).map(|(code, count)| (code.to_owned(), (count - before(code)) as u64));
        new.filter(|(_, count)| *count > 0).collect()
    }

    fn cache_hit_ratio(&self) -> Option<f64> {
        let [hits, misses] = [0, 1].map(|of| (self.now.look_ups[of] - self.before.look_ups[of]) as f64);
        (hits + misses > 0.0).then(|| rounded(hits / (hits + misses)))
    }
}

const ANSWERS: &str = "tideline_http_request_duration_seconds";
const LAG: &str = "tideline_delivery_lag_seconds";

answers! {
    /// The figures of a few seconds. Rates are for each second, times are seconds, sizes are bytes.
    pub(crate) struct Sample as FiguresSample (of: &Span<'_>) {
        /// When they ended.
        (at: Millis as Time) = of.now.at;
        (requests_ok: f64) = of.requests("2xx");
        /// Requests answered with a status of 400 to 499.
        (requests_refused: f64) = of.requests("4xx");
        /// Requests answered with a status of 500 or more.
        (requests_failed: f64) = of.requests("5xx");
        /// The number of refused and failed requests by the code of their problem.
        (problems: BTreeMap<String, u64> as HashMap<String, u64>) = of.problems();
        /// The time until an answer; missing without requests.
        (answer_p50?: f64) = of.quantile(ANSWERS, 0.5);
        (answer_p99?: f64) = of.quantile(ANSWERS, 0.99);
        /// Items published.
        (published: f64) = of.rate(|of| of.sum("tideline_published_items_total"));
        /// Entries written into inboxes.
        (deliveries: f64) = of.rate(|of| of.sum("tideline_deliveries_total"));
        /// The time from a publish until its last delivery; missing without publishes.
        (delivery_lag_p50?: f64) = of.quantile(LAG, 0.5);
        (delivery_lag_p99?: f64) = of.quantile(LAG, 0.99);
        (stream_events: f64) = of.rate(|of| of.sum("tideline_stream_events_total"));
        /// The part of look-ups that caches answered; missing without look-ups.
        (cache_hit_ratio?: f64) = of.cache_hit_ratio();
        /// Processors in use.
        (processor: f64) = of.rate(|of| of.sum("process_cpu_seconds_total"));
        /// Places for jobs in use.
        (jobs: u64) = of.whole("tideline_job_places");
        /// The age of the oldest job.
        (oldest_job: f64) = rounded(of.now.figures.sum("tideline_job_oldest_age_seconds").max(0.0));
        /// Items whose fan-out has not ended.
        (pending_items: u64) = of.whole("tideline_pending_items");
        (streams: u64) = of.whole("tideline_streams");
        (users_online: u64) = of.whole("tideline_users_online");
        (connections: u64) = of.whole("tideline_http_connections");
        /// Bytes of all tables.
        (table_bytes: u64) = of.whole("tideline_table_bytes");
        (log_bytes: u64) = of.whole("tideline_log_bytes");
        (memtable_bytes: u64) = of.whole("tideline_memtable_bytes");
        (compactions: u64) = of.whole("tideline_storage_compactions_running");
        (compaction_pending_bytes: u64) = of.whole("tideline_storage_compaction_pending_bytes");
        (fresh_files: u64) = of.whole("tideline_storage_fresh_files");
        /// How often the engine has slowed changes down or held them back since the start.
        (stalls: u64) = of.whole("tideline_storage_slowdowns_total") + of.whole("tideline_storage_stops_total");
        (device_bytes: u64) = of.whole("tideline_storage_device_bytes");
        (device_limit_bytes: u64) = of.whole("tideline_storage_device_limit_bytes");
        (memory_bytes: u64) = of.whole("process_resident_memory_bytes");
    }
}

/// To what a chart can show, so that answers are short.
fn rounded(value: f64) -> f64 {
    if value >= 1.0 { (value * 1000.0).round() / 1000.0 } else { (value * 1e6).round() / 1e6 }
}
