//! The result of a benchmark: as a table for people, and as JSON for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;

use super::figures::Figures;
use super::run::Ran;
use crate::trace::Kind;

/// The number of this form of the JSON.
const FORMAT: u32 = 1;
/// From this share of a core on, the thread of the load may be what limits the rate.
const BUSY: f64 = 0.9;

/// All that is known of one run.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) format: u32,
    /// The version of this program.
    pub(super) version: &'static str,
    pub(super) setting: Setting,
    /// The steps of the search for the largest rate; empty if a rate was given.
    pub(super) search: Vec<Tried>,
    /// The largest rate that the server kept, if it was searched for.
    pub(super) largest_rate: Option<f64>,
    pub(super) rate_asked: f64,
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
}

/// The server, the load and the data of a run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Setting {
    pub(super) mix: &'static str,
    pub(super) seed: u64,
    pub(super) server: String,
    /// Whether the server was started for the run.
    pub(super) own_server: bool,
    pub(super) durability: Option<&'static str>,
    pub(super) users: u32,
    pub(super) follows: u64,
    pub(super) largest_audience: u32,
    pub(super) posts_before: u64,
    pub(super) connections: usize,
    pub(super) warm_up_seconds: u64,
    pub(super) only_ids: bool,
}

/// One step of a search.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Tried {
    pub(super) rate: f64,
    pub(super) reached: f64,
    pub(super) p99_ms: f64,
    /// Why the rate was not kept.
    pub(super) failed: Option<String>,
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

/// The figures of the server around a run.
pub(super) struct Around {
    /// From the begin of the measured part to its end.
    pub(super) measured: Figures,
    /// From the begin of the measured part until the jobs were done.
    pub(super) drained: Figures,
    pub(super) drained_seconds: f64,
    pub(super) server_busy: Option<f64>,
    pub(super) server_memory: Option<u64>,
}

impl Report {
    pub(super) fn new(
        setting: Setting,
        rate: f64,
        ran: &Ran,
        around: &Around,
        search: Vec<Tried>,
        largest: Option<f64>,
    ) -> Self {
        let seconds = ran.length.as_secs_f64();
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let Around { measured, drained, drained_seconds, server_busy, server_memory } = around;
        let errors: Vec<Errors> = ran
            .record
            .errors()
            .map(|(kind, why, count)| Errors { kind: kind.name(), cause: why.to_string(), count })
            .collect();
        let lag = |percentile| drained.lag(percentile).filter(|bound| bound.is_finite()).map(|bound| bound * 1000.0);
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            setting,
            search,
            largest_rate: largest,
            rate_asked: rate,
            rate_reached: per_second(ran.in_time),
            seconds,
            interrupted: ran.interrupted,
            due: ran.due,
            unsent: ran.unsent,
            longest_wait_ms: ran.latest.as_secs_f64() * 1000.0,
            operations: Kind::ALL.into_iter().filter_map(|kind| operations(ran, kind)).collect(),
            errors,
            deliveries: Deliveries {
                count: measured.deliveries,
                per_second: per_second(measured.deliveries),
                lag_p50_ms: lag(50.0),
                lag_p99_ms: lag(99.0),
                drained_seconds: *drained_seconds,
                jobs_left: drained.jobs,
            },
            answered_by_server: measured.answered.clone(),
            published_by_server: measured.published,
            load_busy: ran.busy,
            server_busy: *server_busy,
            server_memory_bytes: *server_memory,
        }
    }

    /// The title of a plot.
    pub(super) fn title(&self) -> String {
        let Self { setting, rate_asked, rate_reached, .. } = self;
        format!("{}: latency at {rate_asked:.0} operations/s asked, {rate_reached:.0}/s reached", setting.mix)
    }

    /// Writes the table.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head(out)?;
        writeln!(
            out,
            "\n{:<12} {:>10} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9}",
            "operation", "answers", "errors", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms"
        )?;
        for Operations { kind, answers, errors, p50_ms, p90_ms, p99_ms, p99_9_ms, max_ms } in &self.operations {
            // A percentile needs some answers beyond it; with fewer it would be the maximum once more.
            let shown = |ms: f64, least: u64| if *answers < least { "-".to_owned() } else { format!("{ms:.2}") };
            let (p90, p99, p99_9) = (shown(*p90_ms, 10), shown(*p99_ms, 100), shown(*p99_9_ms, 1000));
            writeln!(
                out,
                "{kind:<12} {answers:>10} {errors:>8} {p50_ms:>9.2} {p90:>9} {p99:>9} {p99_9:>9} {max_ms:>9.2}"
            )?;
        }
        writeln!(out)?;
        for Errors { kind, cause, count } in &self.errors {
            writeln!(out, "errors       {kind}: {count} times {cause}")?;
        }
        self.foot(out)
    }

    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        let Setting { mix, server, own_server, durability, users, follows, largest_audience, posts_before, .. } =
            &self.setting;
        let server = match (own_server, durability) {
            (true, Some(durability)) => format!("a server of its own, durability {durability}"),
            (true, None) => "a server of its own, durability by its settings".to_owned(),
            (false, _) => server.clone(),
        };
        writeln!(out, "mix          {mix}, on {server}")?;
        writeln!(
            out,
            "graph        {} users, {} follows, at most {} followers; {} posts before",
            HumanCount(u64::from(*users)),
            HumanCount(*follows),
            HumanCount(u64::from(*largest_audience)),
            HumanCount(*posts_before)
        )?;
        for Tried { rate, reached, p99_ms, failed } in &self.search {
            let verdict = verdict(failed.as_deref());
            writeln!(out, "search       {rate:.0}/s: reached {reached:.0}/s, p99 {p99_ms:.1} ms: {verdict}")?;
        }
        if let Some(largest) = self.largest_rate {
            writeln!(out, "largest      {largest:.0} operations/s; the table is for half of it")?;
        }
        writeln!(
            out,
            "rate         {:.0} operations/s asked, {:.0}/s reached, in {:.1} s{}",
            self.rate_asked,
            self.rate_reached,
            self.seconds,
            if self.interrupted { ", then interrupted" } else { "" }
        )
    }

    fn foot(&self, out: &mut dyn Write) -> io::Result<()> {
        let Deliveries { count, per_second, lag_p50_ms, lag_p99_ms, drained_seconds, jobs_left } = &self.deliveries;
        write!(out, "fan-out      {} deliveries, {per_second:.0}/s", HumanCount(*count))?;
        if let Some(p50) = lag_p50_ms {
            write!(out, "; lag p50 at most {p50} ms")?;
            match lag_p99_ms {
                Some(p99) => write!(out, ", p99 at most {p99} ms")?,
                None => write!(out, ", p99 above all bounds of the metrics")?,
            }
        }
        match jobs_left {
            0 => writeln!(out, "; all delivered {drained_seconds:.1} s after the end")?,
            left => writeln!(out, "; {left} jobs left {drained_seconds:.1} s after the end")?,
        }
        write!(out, "processor    load {:.0} % of one core", self.load_busy * 100.0)?;
        if let Some(busy) = self.server_busy {
            write!(out, ", server {:.0} %", busy * 100.0)?;
        }
        writeln!(out)?;
        if let Some(bytes) = self.server_memory_bytes {
            writeln!(out, "memory       server at most {}", HumanBytes(bytes))?;
        }
        if self.unsent > 0 {
            writeln!(
                out,
                "warning      operations came faster than they were answered: {} were never sent, and the longest wait for one of \
                 {} connections was {:.0} ms. The server, the load or --connections may be the limit",
                HumanCount(self.unsent),
                self.setting.connections,
                self.longest_wait_ms
            )?;
        }
        if self.load_busy > BUSY {
            writeln!(out, "warning      the load used its whole core; the server may reach more")?;
        }
        Ok(())
    }
}

fn operations(ran: &Ran, kind: Kind) -> Option<Operations> {
    let latencies = ran.record.latencies(kind);
    let errors = ran.record.errors().filter(|(of, ..)| *of == kind).map(|(.., count)| count).sum();
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

/// The result of a step of the search.
pub(super) fn verdict(failed: Option<&str>) -> String {
    failed.map_or_else(|| "kept".to_owned(), |why| format!("not kept: {why}"))
}
