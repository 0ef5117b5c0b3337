//! `tideline bench`: how many operations a server keeps up with, and how long they take.

mod client;
mod data;
mod figures;
mod own;
mod plot;
mod prepare;
mod record;
mod report;
mod requests;
mod run;
mod search;
mod timer;

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use tokio::runtime;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use self::client::Server;
use self::own::{Own, Settings};
use self::prepare::{drained, figures, prepare};
use self::report::{Around, Report, Setting, Tried, verdict};
use self::requests::Requests;
use self::run::{Marks, Plan, Ran};
use self::search::Search;
use super::{print, say};
use crate::cli::remote::tls::Trust;
use crate::cli::remote::{backup, calls};
use crate::cli::terminal::interrupt::Interrupt;
use crate::cli::terminal::progress::{Progress, Unit};
use crate::trace::{Load, Mix, Post, Shape};
use config::Durability;
use model::clock::now;
use model::error::{Error, Result};

/// The first rate of a search, per second.
const FIRST_RATE: f64 = 500.0;
/// The part of a step of a search before its measurement.
const STEP_WARM_UP: Duration = Duration::from_secs(1);
/// A rate is too high if its fan-outs take longer than this after its end.
const DRAIN: Duration = Duration::from_secs(1);
/// Longest wait for jobs.
const LONGEST_DRAIN: Duration = Duration::from_secs(120);
/// Kinds with fewer answers do not decide about a rate: their 99th percentile is a chance.
const FEWEST: u64 = 100;
/// Posts before the run for each user, and most of them, unless --history says otherwise.
const POSTS_PER_USER: usize = 2;
const MOST_POSTS: usize = 100_000;
/// Progress tells of waits for connections above this one.
const LATE: Duration = Duration::from_millis(100);
/// The percentile that decides about a rate.
const PERCENTILE: f64 = 99.0;

/// The options of the command.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --rate, the command searches for the largest rate that the server keeps, and then measures half of it. A rate is
kept if all operations are sent and answered without an error, 99 % of each kind with at least 100 answers within
--within, and if all fan-outs end within a second after the load.

Operations are due at random times of the given mean rate, however long earlier ones take. Latencies count from that
moment, so they contain the wait for a free connection. Runs with the same options and --seed send the same operations at
the same times.

stdout: the table. stderr: progress, warnings and errors. SIGINT ends the run and prints the table so far.
Exit code: 0 for a finished or interrupted run; 1 for an error; 2 for wrong usage.")]
pub(super) struct BenchArgs {
    /// The address of a running server, such as http://127.0.0.1:8080: the run writes users and items into its data, and
    /// leaves them there; without it, a server is started on a new directory, which is removed at the end
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Read the server's key from FILE [default: the variable TIDELINE_KEY]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Trust the certificates in FILE (PEM), and those that they vouch for [default: the authorities of the system]
    #[arg(long, value_name = "FILE", requires = "url")]
    ca_file: Option<PathBuf>,
    /// Start the server with the settings in FILE [default: no file]
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    config: Option<PathBuf>,
    /// Start the server with this storage.durability
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "url")]
    durability: Option<Flush>,
    /// Make the data directory of the server in DIR [default: the system's directory for temporary files]
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    dir: Option<PathBuf>,
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
    /// Kinds of operations and their shares
    #[arg(long, value_enum, value_name = "MIX", default_value_t = Mix::Pequod)]
    mix: Mix,
    /// Mean number of operations a second [default: half of the largest rate that the server keeps]
    #[arg(long, value_name = "R", value_parser = rate)]
    rate: Option<f64>,
    /// In the search for the largest rate, longest time that 99 % of each kind of operation may take
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = backup::patience, conflicts_with = "rate")]
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
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = backup::patience)]
    timeout: Duration,
    /// Read pages with view=ids
    #[arg(long)]
    only_ids: bool,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the result as JSON to FILE
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the latencies as SVG into FILE
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// When changes are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Flush {
    /// Flushed to the device before the answer
    Sync,
    /// Handed to the operating system before the answer
    Os,
}

impl Flush {
    fn durability(self) -> Durability {
        match self {
            Self::Sync => Durability::Sync,
            Self::Os => Durability::Os,
        }
    }
}

/// A number of operations a second.
fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "expected a number".to_owned())?;
    if (0.1..=10_000_000.0).contains(&rate) { Ok(rate) } else { Err("expected 0.1 to 10000000".to_owned()) }
}

/// Measures, and prints the result.
pub(super) fn run(args: &BenchArgs) -> Result<()> {
    let outputs = [&args.json, &args.svg].map(|path| path.as_ref().map(Output::open).transpose());
    let [json, svg] = outputs;
    let (json, svg) = (json?, svg?);
    let interrupt = Interrupt::catch()?;
    let load = args.load(&interrupt)?;
    let failed = |e: std::io::Error| Error::Setup(format!("cannot start the runtime: {e}"));
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (report, ran) = LocalSet::new().block_on(&runtime, args.measure(&load, &interrupt))?;
    print(|out| report.print(out))?;
    if let Some(json) = json {
        let text = serde_json::to_string_pretty(&report).map_err(|e| Error::Setup(e.to_string()))?;
        json.write(&(text + "\n"))?;
    }
    if let Some(svg) = svg {
        svg.write(&plot::svg(&report.title(), &ran.record)?)?;
    }
    Ok(())
}

/// A file to write at the end, opened at the begin, so that a wrong name is found before the run.
struct Output {
    name: String,
    file: File,
}

impl Output {
    fn open(path: &PathBuf) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|e| Error::Setup(format!("cannot write {name}: {e}")))?;
        Ok(Self { name, file })
    }

    fn write(mut self, text: &str) -> Result<()> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|e| Error::Setup(format!("cannot write {}: {e}", self.name)))
    }
}

/// A server under load.
struct Target {
    server: Rc<Server>,
    requests: Rc<RefCell<Requests>>,
    /// The process, if it was started for the run.
    own: Option<Own>,
}

/// A run with what the server told around it.
struct Measured {
    ran: Ran,
    around: Around,
}

impl BenchArgs {
    fn load(&self, interrupt: &Interrupt) -> Result<Load> {
        let (graph, posts) = if self.graph.is_empty() {
            let first_is_giant = self.mix == Mix::BigAuthor;
            (Shape { users: self.users, follows: self.follows, first_is_giant }.make(self.seed), None)
        } else {
            data::read(&self.graph, &self.posts, &|| interrupt.was_asked())?
        };
        Ok(Load::new(graph, posts.map(<Vec<Post>>::into), self.seed))
    }

    fn history(&self, load: &Load) -> usize {
        let usual = (load.graph().users() as usize).saturating_mul(POSTS_PER_USER).min(MOST_POSTS);
        self.history.map_or(usual, |history| history as usize)
    }

    /// The server, with the graph and the first posts.
    async fn target(&self, load: &Load, interrupt: &Interrupt) -> Result<Target> {
        let key = calls::key(self.key_file.as_deref())?;
        let trust = self.ca_file.as_deref().map_or(Trust::System, Trust::File);
        let server = |url: &str| Server::new(url, key.as_deref(), trust, self.timeout).map(Rc::new);
        let mut requests = Requests::new(now(), self.only_ids);
        let history = self.history(load);
        let Some(url) = &self.url else {
            let temporary = std::env::temp_dir();
            let settings = Settings {
                config: self.config.as_deref(),
                within: self.dir.as_deref().unwrap_or(&temporary),
                durability: self.durability.map(Flush::durability),
            };
            let own = Own::start(&settings, load, &mut requests, history)?;
            return Ok(Target { server: server(&own.url)?, requests: Rc::new(RefCell::new(requests)), own: Some(own) });
        };
        let server = server(url)?;
        // Also whether a Tideline answers.
        figures(&server).await?;
        say(format_args!(
            "warning: this writes {} follows and {history} posts, and then more, into the data of {url}, and leaves them \
             there: users from {}, items from {}",
            load.graph().edges(),
            requests.user(0),
            requests.first_item()
        ));
        let requests = Rc::new(RefCell::new(requests));
        prepare(&server, load, &requests, history, self.connections.into(), interrupt).await?;
        Ok(Target { server, requests, own: None })
    }

    async fn measure(&self, load: &Load, interrupt: &Interrupt) -> Result<(Report, Ran)> {
        let target = self.target(load, interrupt).await?;
        let (rate, tried, largest) = match self.rate {
            Some(rate) => (rate, Vec::new(), None),
            None => {
                let (tried, largest) = self.search(&target, load, interrupt).await?;
                (largest / 2.0, tried, Some(largest))
            }
        };
        let plan = Plan {
            warm_up: Duration::from_secs(self.warm_up),
            length: Duration::from_secs(self.seconds),
            connections: self.connections.into(),
        };
        let Measured { ran, around } = self.once(&target, load, rate, plan, interrupt).await?;
        let graph = load.graph();
        let setting = Setting {
            mix: self.mix.name(),
            seed: self.seed,
            server: target.server.url().to_owned(),
            own_server: target.own.is_some(),
            durability: self.durability.map(|flush| flush.durability().as_str()),
            users: graph.users(),
            follows: graph.edges() as u64,
            largest_audience: graph.audience(graph.giant()),
            posts_before: self.history(load) as u64,
            connections: self.connections.into(),
            warm_up_seconds: self.warm_up,
            only_ids: self.only_ids,
        };
        Ok((Report::new(setting, rate, &ran, &around, tried, largest), ran))
    }

    /// The steps of a search, and the largest rate that was kept.
    async fn search(&self, target: &Target, load: &Load, interrupt: &Interrupt) -> Result<(Vec<Tried>, f64)> {
        let plan = Plan {
            warm_up: STEP_WARM_UP,
            length: Duration::from_secs(self.step_seconds),
            connections: self.connections.into(),
        };
        let (mut search, mut tried) = (Search::new(FIRST_RATE), Vec::new());
        while let Some(rate) = search.rate() {
            let Measured { ran, around } = self.once(target, load, rate, plan, interrupt).await?;
            if ran.interrupted {
                return Err(Error::Setup("interrupted in the search for the largest rate".to_owned()));
            }
            let failed = self.why_not_kept(&ran, &around);
            search.tried(failed.is_none());
            let reached = ran.in_time as f64 / ran.length.as_secs_f64();
            let p99_ms = ran.record.worst(PERCENTILE, FEWEST) as f64 / 1000.0;
            say(format_args!(
                "{rate:.0}/s: reached {reached:.0}/s, p99 {p99_ms:.1} ms: {}",
                verdict(failed.as_deref())
            ));
            tried.push(Tried { rate, reached, p99_ms, failed });
        }
        match search.best() {
            Some(best) => Ok((tried, best)),
            None => Err(Error::Setup("the server keeps no rate; the lines above say why".to_owned())),
        }
    }

    /// Why a rate is too high; `None` if it is not.
    fn why_not_kept(&self, ran: &Ran, around: &Around) -> Option<String> {
        let (failures, worst) = (ran.record.failures(), ran.record.worst(PERCENTILE, FEWEST));
        if failures > 0 {
            let most = ran.record.errors().max_by_key(|(.., count)| *count);
            let most = most.map(|(kind, why, _)| format!(", most of them {} {why}", kind.name()));
            Some(format!("{failures} errors{}", most.unwrap_or_default()))
        } else if ran.unsent > 0 {
            Some(format!("{} operations still waited for a connection at the end", ran.unsent))
        } else if u128::from(worst) > self.within.as_micros() {
            Some("operations took too long".to_owned())
        } else if around.drained.jobs > 0 || around.drained_seconds > DRAIN.as_secs_f64() {
            Some(format!("fan-outs ended {:.1} s after the load", around.drained_seconds))
        } else {
            None
        }
    }

    /// One run at a rate, and the wait for its fan-outs.
    async fn once(
        &self,
        target: &Target,
        load: &Load,
        rate: f64,
        plan: Plan,
        interrupt: &Interrupt,
    ) -> Result<Measured> {
        let Target { server, requests, own } = target;
        let trace = load.trace(self.mix, rate, self.history(load));
        let (begin, begun) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let begun = async {
            // Not told if the run is interrupted before.
            begun.await.ok()?;
            Some((figures(server).await, own.as_ref().and_then(Own::worked)))
        };
        let ended = async {
            ended.await.ok()?;
            let worked = own.as_ref().and_then(Own::worked);
            Some((Instant::now(), figures(server).await, worked))
        };
        let all = (plan.warm_up + plan.length).as_secs();
        let progress = Progress::new(format!("{rate:.0}/s"), Some(all), Unit::Count("s"));
        let show = |place: run::RunProgress| {
            let run::RunProgress { elapsed, answers, failures, behind } = place;
            let late = if behind > LATE { format!(", {:.1} s behind", behind.as_secs_f64()) } else { String::new() };
            progress.at(elapsed.as_secs(), format_args!("{answers} answers, {failures} errors{late}"));
        };
        let running = run::run(server, requests, trace, plan, Marks { begin, end }, interrupt, &show);
        let (ran, begun, ended) = tokio::join!(running, begun, ended);
        let ran = ran?;
        drop(progress);
        let Some((ended_at, at_end, worked)) = ended else {
            return Err(Error::Setup("the run ended before it began".to_owned()));
        };
        let at_end = at_end?;
        // Nothing was measured if the run was interrupted before.
        let (before, worked_before) = begun.unwrap_or_else(|| (Ok(at_end.clone()), None));
        let before = before?;
        drained(server, LONGEST_DRAIN, interrupt).await?;
        let drained_seconds = ended_at.elapsed().as_secs_f64();
        let after = figures(server).await?;
        let busy =
            worked.zip(worked_before).map(|(after, before)| (after - before) / ran.length.as_secs_f64().max(0.001));
        let around = Around {
            measured: at_end.since(&before),
            drained: after.since(&before),
            drained_seconds,
            server_busy: busy,
            server_memory: own.as_ref().and_then(Own::memory),
        };
        Ok(Measured { ran, around })
    }
}
