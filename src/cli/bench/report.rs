//! The result of a benchmark: as a table for people, and as JSON for programs.

use indicatif::{HumanBytes, HumanCount};

use super::measure::{Deliveries, Errors, Measured};
use super::{BenchArgs, ServerArgs};
use crate::cli::terminal::table::{self, Column};
use crate::prelude::*;

/// The number of this form of the JSON.
pub(super) const FORMAT: u32 = 1;
/// From this share of a core on, the thread of the load may be what limits the rate.
const BUSY: f64 = 0.9;

/// All that is known of one run.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    pub(super) format: u32,
    /// The version of this program.
    pub(super) version: &'static str,
    /// The options of the command.
    pub(super) options: &'a BenchArgs,
    /// The address of the server.
    pub(super) server: String,
    pub(super) data: Data,
    /// The steps of the search for the largest rate; empty if a rate was given.
    pub(super) search: Vec<Tried>,
    /// The largest rate that the server kept, if it was searched for.
    pub(super) largest_rate: Option<f64>,
    pub(super) rate_asked: f64,
    #[serde(flatten)]
    pub(super) measured: Measured,
}

/// The data before a run.
#[derive(Debug, Serialize)]
pub(super) struct Data {
    pub(super) users: u64,
    pub(super) follows: u64,
    pub(super) largest_audience: u64,
    pub(super) posts: u64,
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

impl Report<'_> {
    /// The title of a plot.
    pub(super) fn title(&self) -> String {
        let Self { rate_asked, measured: Measured { rate_reached, .. }, .. } = self;
        let mix = self.options.load.mix.name();
        format!("{mix}: latency at {rate_asked:.0} operations/s asked, {rate_reached:.0}/s reached")
    }

    /// Writes the table, between lines about the run.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        write_lines(out, self.head())?;
        writeln!(out)?;
        let rows = self.measured.operations.iter().map(|of| {
            // A percentile needs some answers beyond it; with fewer it would be the maximum once more.
            let ms = |ms: f64, least: u64| if of.answers < least { "-".to_owned() } else { format!("{ms:.2}") };
            let [answers, errors] = [of.answers, of.errors].map(|count| count.to_string());
            let (p90, p99, p99_9) = (ms(of.p90_ms, 10), ms(of.p99_ms, 100), ms(of.p99_9_ms, 1000));
            [of.kind.to_owned(), answers, errors, ms(of.p50_ms, 0), p90, p99, p99_9, ms(of.max_ms, 0)]
        });
        let [p50, p90, p99, p99_9, max] =
            ["p50 ms", "p90 ms", "p99 ms", "p99.9 ms", "max ms"].map(|head| Column::Figure(head, 8));
        let (operation, answers) = (Column::Text("operation", 11), Column::Figure("answers", 9));
        table::write(out, [operation, answers, Column::Figure("errors", 7), p50, p90, p99, p99_9, max], rows)?;
        writeln!(out)?;
        write_lines(out, self.foot())
    }

    fn head(&self) -> Vec<(&str, String)> {
        let BenchArgs { server: ServerArgs { url, durability, .. }, load, .. } = self.options;
        let server = match (url, durability) {
            (None, Some(durability)) => format!("a server of its own, durability {durability}"),
            (None, None) => "a server of its own, durability by its settings".to_owned(),
            (Some(_), _) => self.server.clone(),
        };
        let mix = load.mix.name();
        let Data { users, follows, largest_audience, posts } = self.data;
        let [users, follows, audience, posts] = [users, follows, largest_audience, posts].map(HumanCount);
        let graph = format!("{users} users, {follows} follows, at most {audience} followers; {posts} posts before");
        let mut head = vec![("mix", format!("{mix}, on {server}")), ("graph", graph)];
        head.extend(self.search.iter().map(|tried| ("search", tried.to_string())));
        let largest = |rate| ("largest", format!("{rate:.0} operations/s; the table is for half of it"));
        head.extend(self.largest_rate.map(largest));
        let Measured { rate_reached, seconds, interrupted, .. } = &self.measured;
        let end = if *interrupted { ", then interrupted" } else { "" };
        let asked = self.rate_asked;
        let rate = format!("{asked:.0} operations/s asked, {rate_reached:.0}/s reached, in {seconds:.1} s{end}");
        head.push(("rate", rate));
        head
    }

    fn foot(&self) -> Vec<(&str, String)> {
        let measured = &self.measured;
        let errors = measured.errors.iter();
        let errors = errors.map(|Errors { kind, cause, count }| ("errors", format!("{kind}: {count} times {cause}")));
        let Deliveries { count, per_second, lag_p50_ms, lag_p99_ms, drained_seconds, jobs_left } = &measured.deliveries;
        let lag = match (lag_p50_ms, lag_p99_ms) {
            (None, _) => String::new(),
            (Some(p50), Some(p99)) => format!("; lag p50 at most {p50} ms, p99 at most {p99} ms"),
            (Some(p50), None) => format!("; lag p50 at most {p50} ms, p99 above all bounds of the metrics"),
        };
        let left = if *jobs_left == 0 { "all delivered".to_owned() } else { format!("{jobs_left} jobs left") };
        let count = HumanCount(*count);
        let fan_out =
            format!("{count} deliveries, {per_second:.0}/s{lag}; {left} {drained_seconds:.1} s after the end");
        let server = measured.server_busy.map_or_else(String::new, |busy| format!(", server {:.0} %", busy * 100.0));
        let processor = format!("load {:.0} % of one core{server}", measured.load_busy * 100.0);
        let mut foot: Vec<_> = errors.chain([("fan-out", fan_out), ("processor", processor)]).collect();
        let memory = |bytes| ("memory", format!("server at most {}", HumanBytes(bytes)));
        foot.extend(measured.server_memory_bytes.map(memory));
        if measured.unsent > 0 {
            let text = format!(
                "operations came faster than they were answered: {} were never sent, and the longest wait for one of {} \
                 connections was {:.0} ms. The server, the load or --connections may be the limit",
                HumanCount(measured.unsent),
                self.options.load.connections,
                measured.longest_wait_ms
            );
            foot.push(("warning", text));
        }
        if measured.load_busy > BUSY {
            foot.push(("warning", "the load used its whole core; the server may reach more".to_owned()));
        }
        foot
    }
}

fn write_lines(out: &mut dyn Write, lines: Vec<(&str, String)>) -> io::Result<()> {
    lines.into_iter().try_for_each(|(about, text)| writeln!(out, "{about:12} {text}"))
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
