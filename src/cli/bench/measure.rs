//! One measurement: a run, and what the server told around it.

use std::collections::BTreeMap;

use super::load::Step;
use super::mix::Kind;
use super::own_server::memory;
use super::prepare::{DELIVERIES, drained, figures, jobs};
use super::record::Record;
use super::run::{Plan, Target, run};
use crate::prelude::*;
use http::Reading;
use model::Distribution;

/// Items published, in the metrics of the server.
const PUBLISHED: &str = "tideline_published_items_total";
/// The histogram of the time from a publish until the item is in all inboxes that get it.
const LAG: &str = "tideline_delivery_lag_seconds";
/// Requests, by route, method and status.
const REQUESTS: &str = "tideline_http_requests_total";
/// Longest wait for jobs.
const LONGEST_DRAIN: Duration = Duration::from_secs(120);

/// The figures of one run.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    /// Good answers per second.
    pub(super) rate_reached: f64,
    pub(super) seconds: f64,
    pub(super) interrupted: bool,
    /// Operations that were due in the measured part.
    pub(super) due: u64,
    /// Of these, those that were never sent, because no connection was free.
    pub(super) unsent: u64,
    /// The longest wait of an operation for a connection.
    pub(super) longest_wait_ms: f64,
    pub(super) operations: Vec<Operations>,
    pub(super) errors: Vec<Errors>,
    pub(super) deliveries: Deliveries,
    /// Requests answered 2xx in the measured part, by the metrics of the server.
    pub(super) answered_by_server: BTreeMap<String, u64>,
    /// Items published in the measured part, by the metrics of the server.
    pub(super) published_by_server: u64,
    /// Share of one core.
    pub(super) load_busy: f64,
    /// Share of one core; only of a server that was started for the run.
    pub(super) server_busy: Option<f64>,
    /// The largest memory of that server.
    pub(super) server_memory_bytes: Option<u64>,
    #[serde(skip)]
    pub(super) record: Record,
}

/// The operations of one kind.
#[derive(Debug, Serialize)]
pub(super) struct Operations {
    pub(super) kind: &'static str,
    pub(super) answers: u64,
    pub(super) errors: u64,
    pub(super) p50_ms: f64,
    pub(super) p90_ms: f64,
    pub(super) p99_ms: f64,
    pub(super) p99_9_ms: f64,
    pub(super) max_ms: f64,
}

/// The errors of one kind and cause.
#[derive(Debug, Serialize)]
pub(super) struct Errors {
    pub(super) kind: &'static str,
    pub(super) cause: String,
    pub(super) count: u64,
}

/// Fan-out, by the metrics of the server.
#[derive(Debug, Serialize)]
pub(super) struct Deliveries {
    /// Entries written into inboxes in the measured part.
    pub(super) count: u64,
    pub(super) per_second: f64,
    /// Upper bounds of the time from a publish until its last delivery. Missing without publishes; the metrics have no
    /// bound above the last one.
    pub(super) lag_p50_ms: Option<f64>,
    pub(super) lag_p99_ms: Option<f64>,
    /// Seconds from the end of the load until no job was left.
    pub(super) drained_seconds: f64,
    /// Jobs that were left when the wait was given up.
    pub(super) jobs_left: u64,
}

/// Runs the steps of a rate within a plan, and waits for their fan-outs.
pub(super) async fn measure(
    target: &mut Target,
    steps: impl Iterator<Item = Step> + Send + 'static,
    rate: f64,
    plan: Plan,
    interrupt: &Interrupt,
) -> Result<Measured> {
    let seconds = (plan.warm_up + plan.length).as_secs();
    let progress = Progress::new(format!("{rate:.0}/s"), Some(seconds), Unit::Count("s"));
    let ran = run(target, steps, plan, interrupt, &progress).await?;
    drop(progress);
    let at_end = ran.at_end?;
    drained(&target.client, LONGEST_DRAIN, interrupt).await?;
    let drained_seconds = at_end.at.elapsed().as_secs_f64();
    let after = figures(&target.client).await?;
    // Nothing was measured if the run was interrupted before.
    let at_begin = ran.at_begin.transpose()?;
    let begin = at_begin.as_ref().unwrap_or(&at_end);
    let counted = |name| (at_end.figures.sum(name) - begin.figures.sum(name).max(0.0)) as u64;
    let lags = after.spread(LAG).since(&begin.figures.spread(LAG));
    let seconds = ran.length.as_secs_f64();
    let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    let share = |worked: Duration| worked.as_secs_f64() / seconds.max(0.001);
    let lag = |part| bound_of(&lags, part).filter(|bound| bound.is_finite()).map(|bound| bound * 1000.0);
    let errors = ran.counts.record.errors();
    Ok(Measured {
        rate_reached: per_second(ran.counts.in_time),
        seconds,
        interrupted: ran.interrupted,
        due: ran.counts.due,
        unsent: ran.counts.unsent,
        longest_wait_ms: ran.counts.longest_wait.as_secs_f64() * 1000.0,
        operations: Kind::ALL.into_iter().filter_map(|kind| operations(&ran.counts.record, kind)).collect(),
        errors: errors.map(|(kind, why, count)| Errors { kind: kind.name(), cause: why.to_owned(), count }).collect(),
        deliveries: Deliveries {
            count: counted(DELIVERIES),
            per_second: per_second(counted(DELIVERIES)),
            lag_p50_ms: lag(0.5),
            lag_p99_ms: lag(0.99),
            drained_seconds,
            jobs_left: jobs(&after),
        },
        answered_by_server: answered(&begin.figures, &at_end.figures),
        published_by_server: counted(PUBLISHED),
        load_busy: share(at_end.load_worked.saturating_sub(begin.load_worked)),
        server_busy: begin.server_worked.zip(at_end.server_worked).map(|(before, after)| share(after - before)),
        server_memory_bytes: target.own.as_ref().and_then(|own| memory(own.pid())),
        record: ran.counts.record,
    })
}

/// Requests answered 2xx meanwhile, by method and route.
fn answered(before: &Reading, after: &Reading) -> BTreeMap<String, u64> {
    let good = after.all(REQUESTS).filter(|(labels, _)| labels.contains("status=\"2xx\""));
    let grown = good.map(|(labels, count)| (labels, (count - before.sum_of(REQUESTS, labels).max(0.0)) as u64));
    let label =
        |labels: &str, name: &str| Some(labels.split_once(&format!("{name}=\""))?.1.split('"').next()?.to_owned());
    let named = |(labels, count): (&String, u64)| {
        Some((format!("{} {}", label(labels, "method")?, label(labels, "route")?), count))
    };
    grown.filter(|(_, count)| *count > 0).filter_map(named).collect()
}

/// The bound that this part of the values kept; infinite if the last finite one did not suffice; `None` without values.
fn bound_of(values: &Distribution, part: f64) -> Option<f64> {
    let (wanted, mut below) = ((values.count() as f64 * part).ceil() as u64, 0);
    values.buckets.iter().find_map(|(bound, count)| {
        below += count;
        (below > 0 && below >= wanted).then_some(*bound)
    })
}

fn operations(record: &Record, kind: Kind) -> Option<Operations> {
    let latencies = record.latencies(kind);
    let errors = record.errors().filter(|(of, ..)| *of == kind).map(|(.., count)| count).sum();
    if latencies.is_empty() && errors == 0 {
        return None;
    }
    let ms = |micros: u64| micros as f64 / 1000.0;
    let at = |quantile| ms(latencies.value_at_quantile(quantile));
    Some(Operations {
        kind: kind.name(),
        answers: latencies.len(),
        errors,
        p50_ms: at(0.5),
        p90_ms: at(0.9),
        p99_ms: at(0.99),
        p99_9_ms: at(0.999),
        max_ms: ms(latencies.max()),
    })
}
