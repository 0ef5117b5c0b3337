//! Compares Tideline with what people use instead: Redis, PostgreSQL, and the bare engine and web server below it.
//!
//! `make bench` runs everything and writes `docs/contribute/benchmarks.md`. It starts and stops all servers itself, on
//! loopback ports, with data in temporary directories. All sides get the same posts (`trace.rs`), in turn; medians are compared.
//! `cargo bench --bench peers -- --help` lists the options.

#![allow(clippy::expect_used, clippy::panic, missing_docs, unreachable_pub)]

mod client;
mod fan_out;
mod follows;
mod giant;
mod growth;
mod machine;
mod opened;
mod pages;
mod postgres_side;
mod process;
mod ratios;
mod raw;
mod reads;
mod redis_side;
mod report;
#[path = "../../tests/server/mod.rs"]
mod server;
mod sources;
mod tideline_side;
mod trace;
mod wrk;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::{Parser, ValueEnum};
use tempfile::TempDir;

use report::{Report, progress};

/// Compare Tideline with Redis, PostgreSQL, the bare engine and the bare web server
#[derive(Parser)]
#[command(name = "peers")]
struct Args {
    /// Only these parts
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Sizes of data and rounds, relative to the full ones
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// Rounds of each comparison, after one to warm up
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of a turn of load
    #[arg(long, default_value_t = 4)]
    seconds: u32,
    /// Small sizes and short turns: a test of the benchmark itself, not of its sides
    #[arg(long)]
    quick: bool,
    /// Directory for temporary data, on the disk to be measured
    #[arg(long, default_value = "/var/tmp")]
    dir: PathBuf,
    /// File to write; without it the page goes to stdout
    #[arg(long)]
    output: Option<PathBuf>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Sustained fan-out
    FanOut,
    /// A burst of fan-out
    Burst,
    /// The newest page
    Pages,
    /// Pages below the floor
    Deep,
    /// Ten times as much data: speed, memory, disk, restart
    Growth,
    /// One author with very many followers
    Giant,
    /// In some minutes: fan-out and pages beside the bare engine and the bare web server, and names beside numbers as
    /// ids; only if it is named
    Ratios,
    /// Pages with rules, through groups, of lists and of rare kinds, beside plain pages; only if it is named
    Sources,
    /// Fan-out while users follow authors with many items; only if it is named
    Follows,
}

/// The parts that run only if they are named.
const NAMED: [Part; 3] = [Part::Ratios, Part::Sources, Part::Follows];

/// Runs a part.
type Run = fn(&Bench, &mut Report);

/// Sizes and places of a run.
struct Bench {
    scale: f64,
    rounds: usize,
    seconds: u32,
    dir: TempDir,
}

impl Bench {
    /// The size that corresponds to a full one.
    fn size(&self, full: u64) -> u64 {
        (full as f64 * self.scale).round() as u64
    }

    /// A directory that is removed when dropped.
    fn temp(&self) -> TempDir {
        TempDir::new_in(self.dir.path()).expect("a directory")
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let missing = missing(&args.only);
    if !missing.is_empty() {
        eprintln!("bench: missing: {}. On Debian: apt-get install redis-server postgresql wrk", missing.join(", "));
        return ExitCode::FAILURE;
    }
    let dir = tempfile::Builder::new().prefix("tideline-bench-").tempdir_in(&args.dir).expect("a directory");
    process::end_on_signal(dir.path());
    // PostgreSQL's user must be able to pass.
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    let bench = Bench {
        scale: if args.quick { args.scale.min(0.02) } else { args.scale },
        rounds: if args.quick { args.rounds.min(2) } else { args.rounds }.max(1),
        seconds: if args.quick { 1 } else { args.seconds.max(1) },
        dir,
    };
    let (begun, load, mut report) = (Instant::now(), machine::load(), Report::default());
    let (facts, versions) = (machine::describe(bench.dir.path()), machine::versions());
    let parts: [(Part, Run); 9] = [
        (Part::FanOut, fan_out::sustained),
        (Part::Burst, fan_out::burst),
        (Part::Pages, reads::newest),
        (Part::Deep, reads::below_floor),
        (Part::Growth, growth::run),
        (Part::Giant, giant::run),
        (Part::Ratios, ratios::run),
        (Part::Sources, sources::run),
        (Part::Follows, follows::run),
    ];
    for (part, run) in parts {
        if args.only.contains(&part) || args.only.is_empty() && !NAMED.contains(&part) {
            let begun = Instant::now();
            run(&bench, &mut report);
            progress(&format!("took {} s", begun.elapsed().as_secs()));
        }
    }
    let page = page(&bench, &report, &facts, &versions, &load, begun);
    match &args.output {
        Some(file) => {
            std::fs::write(file, page).expect("the page is written");
            progress(&format!("wrote {}", file.display()));
        }
        None => println!("{page}"),
    }
    ExitCode::SUCCESS
}

/// Programs that are not installed. The parts that must be named need no other side.
fn missing(only: &[Part]) -> Vec<&'static str> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let is_alone = !only.is_empty() && only.iter().all(|part| NAMED.contains(part));
    let needed: &[_] = if is_alone { &["wrk"] } else { &["redis-server", "redis-cli", "wrk"] };
    let mut missing: Vec<_> = needed.iter().copied().filter(|program| !runs(program)).collect();
    if !is_alone && postgres_side::programs().is_none() {
        missing.push("PostgreSQL (initdb)");
    }
    missing
}

fn page(bench: &Bench, report: &Report, facts: &str, versions: &str, load: &str, begun: Instant) -> String {
    let date = process::output("date", &["-u", "+%Y-%m-%d"]);
    let minutes = begun.elapsed().as_secs().div_ceil(60);
    let small = if (bench.scale - 1.0).abs() < f64::EPSILON && bench.rounds >= 5 {
        String::new()
    } else {
        format!(
            "\n**Sizes: {} times the full ones; rounds: {}. The bounds below are meant for full sizes and 5 rounds.**\n",
            bench.scale, bench.rounds
        )
    };
    format!(
        "# Benchmarks\n\n\
         Tideline answers \"the newest items from the people I follow\" ([README](../../README.md)). This page compares it \
         with other ways to do that, on one machine. The [glossary](glossary.md) has the words: inbox, entry, delivery, floor.\n\n\
         `make bench` wrote the page on {date}, in {minutes} minutes. Load average before: {load}; at the end: {}. \
         Another run gives other figures, on other machines very different ones: the ratios hold better.\n{small}\n\
         All sides get the same posts, made from a fixed seed (`benches/peers/trace.rs`), and work in turn on one \
         machine. After a round to warm up there are {} rounds; a ratio is the median of the ratios of the \
         rounds.\n\n\
         ## Figures wanted, and measured\n\n{}{}\n\
         ## Machine\n\n| | |\n|---|---|\n{facts}\n\n\
         ## Versions\n\n| | |\n|---|---|\n{versions}\n\n\
         ## Settings\n\n\
         - Tideline: the defaults (`storage.durability = \"sync\"`: a publish is on the device before its answer), except \
         {}. The others keep 300 entries of an inbox, too. Its data is made through the library, without HTTP and without flushes of the log.\n\
         - Redis: the defaults, except {}. So a power cut may take the last second.\n\
         - PostgreSQL: the defaults, autovacuum included, except {}. So a power cut may take the last transactions.\n\
         - The bare engine: RocksDB with LZ4, a filter on the users of 10 bits, two background jobs, a block cache of 512 MiB; it \
         writes a log and does not flush it to the device.\n\n\
         ## Repeat\n\n\
         `make bench` on a Debian machine installs what is missing, and runs everything: plan about an hour, 10 GB of memory \
         and 40 GB of disk below `/var/tmp`. `make bench QUICK=1` tries everything with small sizes in some minutes. \
         `make bench ARGS='--only fan-out,pages'` runs only these parts, `--scale 0.1` changes the sizes, `--rounds` and \
         `--seconds` the length, and `--dir` the disk; then the page goes to stdout. \
         `cargo bench --bench peers -- --help` has the list.\n",
        machine::load(),
        bench.rounds,
        report.goals(),
        report.body(),
        tideline_side::settings().map(|(name, value)| format!("`{name}={value}`")).join(", "),
        redis_side::SETTINGS,
        postgres_side::SETTINGS.iter().map(|setting| format!("`{setting}`")).collect::<Vec<_>>().join(", "),
    )
}
