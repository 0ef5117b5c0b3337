//! The main figures of the last hour, for operators without a monitoring system.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::wire::answers::answers;
use model::{Distribution, Millis, Time};

/// Samples that are kept.
const KEPT: usize = 720;

/// The samples, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    last: Option<Reading>,
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
    pub(crate) fn add(&self, reading: Reading) {
        let mut taken = self.0.lock();
        let at = reading.totals.at;
        // The clock was set back: what is later than now would hide what comes.
        if taken.last.as_ref().is_some_and(|last| last.totals.at > at) {
            taken.samples.clear();
        }
        if let Some(last) = taken.last.take().filter(|last| last.totals.at < at) {
            if taken.samples.len() == KEPT {
                taken.samples.pop_front();
            }
            taken.samples.push_back(Arc::new(reading.since(&last)));
        }
        taken.last = Some(reading);
    }
}

/// The figures of a time.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The values of a sample at this time; in place of each rate, and of the problems, the number since the start.
    pub(crate) totals: Sample,
    pub(crate) answers: Distribution,
    pub(crate) lag: Distribution,
    pub(crate) cache_hits: u64,
    pub(crate) cache_misses: u64,
}

impl Reading {
    /// The difference from an earlier reading.
    fn since(&self, last: &Self) -> Sample {
        let (now, before) = (&self.totals, &last.totals);
        let seconds = (now.at - before.at) as f64 / 1000.0;
        let rate = |of: fn(&Sample) -> f64| rounded((of(now) - of(before)).max(0.0) / seconds);
        let new = |(code, count): (&&'static str, &u64)| (*code, count - before.problems.get(code).unwrap_or(&0));
        let (answers, lag) = (self.answers.since(&last.answers), self.lag.since(&last.lag));
        let quantile = |of: &Distribution, part| of.quantile(part).map(rounded);
        let (hits, misses) = (self.cache_hits - last.cache_hits, self.cache_misses - last.cache_misses);
        Sample {
            requests_ok: rate(|of| of.requests_ok),
            requests_refused: rate(|of| of.requests_refused),
            requests_failed: rate(|of| of.requests_failed),
            problems: now.problems.iter().map(new).filter(|(_, count)| *count > 0).collect(),
            answer_p50: quantile(&answers, 0.5),
            answer_p99: quantile(&answers, 0.99),
            published: rate(|of| of.published),
            deliveries: rate(|of| of.deliveries),
            delivery_lag_p50: quantile(&lag, 0.5),
            delivery_lag_p99: quantile(&lag, 0.99),
            stream_events: rate(|of| of.stream_events),
            cache_hit_ratio: (hits + misses > 0).then(|| rounded(hits as f64 / (hits + misses) as f64)),
            processor: rate(|of| of.processor),
            ..now.clone()
        }
    }
}

answers! {
    /// The figures of a few seconds. Rates are for each second, times are seconds, sizes are bytes.
    #[derive(Default, Clone)]
    pub(crate) struct Sample as FiguresSample {
        /// When they ended.
        pub(crate) at: Millis as Time,
        pub(crate) requests_ok: f64,
        /// Requests answered with a status of 400 to 499.
        pub(crate) requests_refused: f64,
        /// Requests answered with a status of 500 or more.
        pub(crate) requests_failed: f64,
        /// The number of refused and failed requests by the code of their problem.
        pub(crate) problems: BTreeMap<&'static str, u64> as HashMap<String, u64>,
        /// The time until an answer; missing without requests.
        pub(crate) answer_p50?: f64,
        pub(crate) answer_p99?: f64,
        /// Items published.
        pub(crate) published: f64,
        /// Entries written into inboxes.
        pub(crate) deliveries: f64,
        /// The time from a publish until its last delivery; missing without publishes.
        pub(crate) delivery_lag_p50?: f64,
        pub(crate) delivery_lag_p99?: f64,
        pub(crate) stream_events: f64,
        /// The part of look-ups that caches answered; missing without look-ups.
        pub(crate) cache_hit_ratio?: f64,
        /// Processors in use.
        pub(crate) processor: f64,
        /// Places for jobs in use.
        pub(crate) jobs: u64,
        /// The age of the oldest job.
        pub(crate) oldest_job: f64,
        /// Items whose fan-out has not ended.
        pub(crate) pending_items: u64,
        pub(crate) streams: u64,
        pub(crate) users_online: u64,
        pub(crate) connections: u64,
        /// Bytes of all tables.
        pub(crate) table_bytes: u64,
        pub(crate) log_bytes: u64,
        pub(crate) memtable_bytes: u64,
        pub(crate) compactions: u64,
        pub(crate) compaction_pending_bytes: u64,
        pub(crate) fresh_files: u64,
        /// How often the engine has slowed changes down or held them back since the start.
        pub(crate) stalls: u64,
        pub(crate) device_bytes: u64,
        pub(crate) device_limit_bytes: u64,
        pub(crate) memory_bytes: u64,
    }
}

/// To what a chart can show, so that answers are short.
pub(crate) fn rounded(value: f64) -> f64 {
    if value >= 1.0 { (value * 1000.0).round() / 1000.0 } else { (value * 1e6).round() / 1e6 }
}
