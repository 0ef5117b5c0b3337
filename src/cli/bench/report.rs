//! The result of a benchmark: as a table for people, and as JSON for programs.

use std::fmt;
use std::io::{self, Write};

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;

use super::measure::{Deliveries, Errors, Measured};
use crate::cli::terminal::table::{self, Column};

/// The number of this form of the JSON.
pub(super) const FORMAT: u32 = 1;
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
    #[serde(flatten)]
    pub(super) measured: Measured,
}

/// The server, the load and the data of a run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Setting {
    pub(super) mix: &'static str,
    pub(super) seed: u64,
    pub(super) server: String,
    /// Whether the server was started for the run.
    pub(super) own_server: bool,
    pub(super) durability: Option<String>,
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

impl Report {
    /// The title of a plot.
    pub(super) fn title(&self) -> String {
        let Self { setting, rate_asked, measured: Measured { rate_reached, .. }, .. } = self;
        format!("{}: latency at {rate_asked:.0} operations/s asked, {rate_reached:.0}/s reached", setting.mix)
    }

    /// Writes the table.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head(out)?;
        writeln!(out)?;
        let rows = self.measured.operations.iter().map(|of| {
            // A percentile needs some answers beyond it; with fewer it would be the maximum once more.
            let ms = |ms: f64, least: u64| if of.answers < least { "-".to_owned() } else { format!("{ms:.2}") };
            let [answers, errors] = [of.answers, of.errors].map(|count| count.to_string());
            let (p90, p99, p99_9) = (ms(of.p90_ms, 10), ms(of.p99_ms, 100), ms(of.p99_9_ms, 1000));
            [of.kind.to_owned(), answers, errors, ms(of.p50_ms, 0), p90, p99, p99_9, ms(of.max_ms, 0)]
        });
        let ms = |head| Column::Figure(head, 8);
        let columns = [
            Column::Text("operation", 11),
            Column::Figure("answers", 9),
            Column::Figure("errors", 7),
            ms("p50 ms"),
            ms("p90 ms"),
            ms("p99 ms"),
            ms("p99.9 ms"),
            ms("max ms"),
        ];
        table::write(out, columns, rows)?;
        writeln!(out)?;
        for Errors { kind, cause, count } in &self.measured.errors {
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
        for tried in &self.search {
            writeln!(out, "search       {tried}")?;
        }
        if let Some(largest) = self.largest_rate {
            writeln!(out, "largest      {largest:.0} operations/s; the table is for half of it")?;
        }
        writeln!(
            out,
            "rate         {:.0} operations/s asked, {:.0}/s reached, in {:.1} s{}",
            self.rate_asked,
            self.measured.rate_reached,
            self.measured.seconds,
            if self.measured.interrupted { ", then interrupted" } else { "" }
        )
    }

    fn foot(&self, out: &mut dyn Write) -> io::Result<()> {
        let Deliveries { count, per_second, lag_p50_ms, lag_p99_ms, drained_seconds, jobs_left } =
            &self.measured.deliveries;
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
        write!(out, "processor    load {:.0} % of one core", self.measured.load_busy * 100.0)?;
        if let Some(busy) = self.measured.server_busy {
            write!(out, ", server {:.0} %", busy * 100.0)?;
        }
        writeln!(out)?;
        if let Some(bytes) = self.measured.server_memory_bytes {
            writeln!(out, "memory       server at most {}", HumanBytes(bytes))?;
        }
        if self.measured.unsent > 0 {
            writeln!(
                out,
                "warning      operations came faster than they were answered: {} were never sent, and the longest wait for one of \
                 {} connections was {:.0} ms. The server, the load or --connections may be the limit",
                HumanCount(self.measured.unsent),
                self.setting.connections,
                self.measured.longest_wait_ms
            )?;
        }
        if self.measured.load_busy > BUSY {
            writeln!(out, "warning      the load used its whole core; the server may reach more")?;
        }
        Ok(())
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rate, reached, p99_ms, failed } = self;
        write!(f, "{rate:.0}/s: reached {reached:.0}/s, p99 {p99_ms:.1} ms: ")?;
        match failed {
            None => f.write_str("kept"),
            Some(why) => write!(f, "not kept: {why}"),
        }
    }
}
