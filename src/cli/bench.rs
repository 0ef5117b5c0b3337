//! `tideline bench`: how many operations a server keeps up with, and how long they take.

mod data;
mod load;
mod measure;
mod mix;
mod own_server;
mod plot;
mod prepare;
mod record;
mod report;
mod requests;
mod run;
mod search;

use clap::ArgGroup;
use tokio::runtime;

use self::load::Load;
use self::measure::{Errors, Measured, measure};
use self::mix::Mix;
use self::own_server::Own;
use self::prepare::{figures, prepare};
use self::report::{Data, FORMAT, Report, Tried};
use self::requests::Requests;
use self::run::{Plan, Target};
use self::search::Search;
use crate::cli::graph::Graph;
use crate::cli::remote::calls::Access;
use crate::cli::terminal::part_file::unwritten;
use crate::cli::terminal::units::time_limit;
use crate::prelude::*;

/// The first rate of a search, per second.
const FIRST_RATE: f64 = 500.0;
/// The warm-up of each step of a search, before its measurement.
const STEP_WARM_UP: Duration = Duration::from_secs(1);
/// A rate is too high if its fan-outs take longer than this after its end.
const DRAIN: Duration = Duration::from_secs(1);
/// Kinds with fewer answers do not decide about a rate: their 99th percentile is a chance.
const FEWEST: u64 = 100;
/// Posts before the run for each user, and most of them, unless --history says otherwise.
const POSTS_PER_USER: usize = 2;
const MOST_POSTS: usize = 100_000;

/// The options of the command.
#[derive(Debug, Args, Serialize)]
#[command(after_help = include_str!("bench/help.txt").trim_end())]
pub(super) struct BenchArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    load: LoadArgs,
    /// Write the result as JSON to FILE
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the latencies as SVG into FILE
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The server to measure.
#[derive(Debug, Args, Serialize)]
#[command(group(ArgGroup::new("trust").arg("ca_file").requires("url")))]
struct ServerArgs {
    /// The address of a running server, such as http://127.0.0.1:8080: the run writes users and items into its data, and
    /// leaves them there; without it, a server is started on a new directory, which is removed at the end
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    access: Access,
    /// Start the server with the settings in FILE [default: no file]
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    config: Option<PathBuf>,
    /// Start the server with this storage.durability: with sync a change is flushed to the device before its answer, with
    /// os it is handed to the operating system
    #[arg(long, value_name = "KIND", value_parser = ["sync", "os"], conflicts_with = "url")]
    durability: Option<String>,
    /// Make the data directory of the server in DIR [default: the system's directory for temporary files]
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    dir: Option<PathBuf>,
}

/// The data before the run.
#[derive(Debug, Args, Serialize)]
struct DataArgs {
    /// A file of follows, as for tideline import; can be given several times [default: a made-up graph]
    #[arg(long, value_name = "FILE")]
    graph: Vec<PathBuf>,
    /// A file of content, as for tideline import, whose authors and lengths of text are published in its order, again
    /// and again; can be given several times
    #[arg(long, value_name = "FILE", requires = "graph")]
    posts: Vec<PathBuf>,
    /// Number of users of the made-up graph
    #[arg(long, value_name = "N", default_value_t = 10_000, conflicts_with = "graph", value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    users: u32,
    /// Mean number of followees of a user of the made-up graph
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "graph", value_parser = clap::value_parser!(u32).range(1..=500))]
    follows: u32,
    /// Posts before the run [default: two for each user, at most 100,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100_000_000))]
    history: Option<u32>,
}

/// The load.
#[derive(Debug, Args, Serialize)]
struct LoadArgs {
    /// Kinds of operations and their shares
    #[arg(long, value_enum, value_name = "MIX", default_value_t = Mix::Pequod)]
    mix: Mix,
    /// Mean number of operations a second [default: half of the largest rate that the server keeps]
    #[arg(long, value_name = "R", value_parser = rate)]
    rate: Option<f64>,
    /// In the search for the largest rate, longest time that 99 % of each kind of operation may take
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = time_limit, conflicts_with = "rate")]
    within: Duration,
    /// Seconds of each step of the search
    #[arg(long, value_name = "N", default_value_t = 5, conflicts_with = "rate", value_parser = clap::value_parser!(u64).range(1..=3600))]
    step_seconds: u64,
    /// Seconds of the measured part
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Seconds of load before the measured part
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=3600))]
    warm_up: u64,
    /// Connections, and so most operations under way; further ones wait
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    connections: u16,
    /// Give up an operation after this time
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = time_limit)]
    timeout: Duration,
    /// Read pages with view=ids
    #[arg(long)]
    only_ids: bool,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// A number of operations a second.
fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if (0.1..=10_000_000.0).contains(&rate) { Ok(rate) } else { Err("expected 0.1 to 10000000".to_owned()) }
}

/// Measures, and prints the result.
pub(super) fn run(args: &BenchArgs) -> Result<()> {
    // A wrong name is found before the run.
    [&args.json, &args.svg].into_iter().flatten().try_for_each(|path| write(path, ""))?;
    let interrupt = Interrupt::catch()?;
    let load = args.load(&interrupt)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("cannot start the runtime")?;
    let report = runtime.block_on(args.measure(&load, &interrupt))?;
    print(|out| report.print(out))?;
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&report).map_err(|e| Error::Setup(e.to_string()))?;
        write(path, &(text + "\n"))?;
    }
    if let Some(path) = &args.svg {
        write(path, &plot::svg(&report.title(), &report.measured.record))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|e| unwritten(path, &e))
}

impl BenchArgs {
    fn load(&self, interrupt: &Interrupt) -> Result<Arc<Load>> {
        let (graph, posts) = if self.data.graph.is_empty() {
            let first_is_giant = self.load.mix == Mix::BigAuthor;
            let graph = Graph::made_up(self.data.users, self.data.follows, first_is_giant, self.load.seed);
            (graph, Vec::new())
        } else {
            data::read(&self.data.graph, &self.data.posts, interrupt)?
        };
        Ok(Arc::new(Load::new(graph, posts, self.load.seed)))
    }

    fn history(&self, load: &Load) -> usize {
        let usual = (load.graph.users() as usize).saturating_mul(POSTS_PER_USER).min(MOST_POSTS);
        self.data.history.map_or(usual, |history| history as usize)
    }

    /// The server, with the graph and the first posts.
    async fn target(&self, load: &Load, interrupt: &Interrupt) -> Result<Target> {
        let given = &self.server;
        let own = given.url.is_none().then(|| Own::start(given, &load.graph)).transpose()?;
        let url = own.as_ref().map(|own| &own.url).or(given.url.as_ref()).map_or("", String::as_str);
        let client = Arc::new(given.access.client("--url", url, self.load.timeout)?);
        let (mut requests, history) = (Requests::new(now(), self.load.only_ids), self.history(load));
        // Also whether a Tideline answers.
        figures(&client).await?;
        if own.is_none() {
            say(format_args!(
                "warning: this writes {} follows and {history} posts, and then more, into the data of {url}, and leaves \
                 them there: users from {}, items from {}",
                load.graph.follows().len(),
                requests.user(0),
                requests.next_item
            ));
        }
        prepare(&client, load, &mut requests, history, self.load.connections.into(), interrupt).await?;
        Ok(Target { client, requests, own })
    }

    async fn measure(&self, load: &Arc<Load>, interrupt: &Interrupt) -> Result<Report<'_>> {
        let mut target = self.target(load, interrupt).await?;
        let (rate_asked, search, largest_rate) = match self.load.rate {
            Some(rate) => (rate, Vec::new(), None),
            None => {
                let (search, largest) = self.search(&mut target, load, interrupt).await?;
                (largest / 2.0, search, Some(largest))
            }
        };
        let plan = self.plan(Duration::from_secs(self.load.warm_up), self.load.seconds);
        let trace = load.trace(self.load.mix, rate_asked, self.history(load));
        let measured = measure(&mut target, trace, rate_asked, plan, interrupt).await?;
        let graph = &load.graph;
        let (format, version, server) = (FORMAT, env!("CARGO_PKG_VERSION"), target.client.url.clone());
        let data = Data {
            users: graph.users().into(),
            follows: graph.follows().len() as u64,
            largest_audience: graph.audience(graph.giant()).into(),
            posts: self.history(load) as u64,
        };
        Ok(Report { format, version, options: self, server, data, search, largest_rate, rate_asked, measured })
    }

    fn plan(&self, warm_up: Duration, seconds: u64) -> Plan {
        Plan { warm_up, length: Duration::from_secs(seconds), connections: self.load.connections.into() }
    }

    /// The steps of a search, and the largest rate that was kept.
    async fn search(&self, target: &mut Target, load: &Arc<Load>, interrupt: &Interrupt) -> Result<(Vec<Tried>, f64)> {
        let plan = self.plan(STEP_WARM_UP, self.load.step_seconds);
        let (mut search, mut tried) = (Search::new(FIRST_RATE), Vec::new());
        while let Some(rate) = search.rate() {
            let trace = load.trace(self.load.mix, rate, self.history(load));
            let measured = measure(target, trace, rate, plan, interrupt).await?;
            if measured.interrupted {
                return Err(Error::Setup("interrupted in the search for the largest rate".to_owned()));
            }
            let answered = measured.operations.iter().filter(|of| of.answers >= FEWEST);
            let p99_ms = answered.map(|of| of.p99_ms).fold(0.0, f64::max);
            let failed = self.why_not_kept(&measured, p99_ms);
            search.tried(failed.is_none());
            let step = Tried { rate, reached: measured.rate_reached, p99_ms, failed };
            say(&step);
            tried.push(step);
        }
        match search.best() {
            Some(best) => Ok((tried, best)),
            None => Err(Error::Setup("the server keeps no rate; the lines above say why".to_owned())),
        }
    }

    /// The reason that a rate is too high; `None` if it is not. `p99_ms` is that of the slowest kind of operation.
    fn why_not_kept(&self, Measured { errors, unsent, deliveries, .. }: &Measured, p99_ms: f64) -> Option<String> {
        if let Some(Errors { kind, cause, .. }) = errors.iter().max_by_key(|errors| errors.count) {
            let all: u64 = errors.iter().map(|errors| errors.count).sum();
            Some(format!("{all} errors, most of them {kind} {cause}"))
        } else if *unsent > 0 {
            Some(format!("{unsent} operations still waited for a connection at the end"))
        } else if p99_ms > self.load.within.as_secs_f64() * 1000.0 {
            Some("operations took too long".to_owned())
        } else if deliveries.jobs_left > 0 || deliveries.drained_seconds > DRAIN.as_secs_f64() {
            Some(format!("fan-outs ended {:.1} s after the load", deliveries.drained_seconds))
        } else {
            None
        }
    }
}
