//! `tideline stats`: amounts of stored data.

use std::io::{self, Write};

use clap::Args;
use indicatif::HumanBytes;
use serde::Serialize;

use crate::cli::print;
use config::Config;
use model::error::Result;
use model::store::{Inboxes, TableStats, Upkeep};
use model::{Job, Work};
use store::{Options, Rocks};

/// How to print.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Opens the store without workers, so that nothing changes.
pub(crate) fn run(config: &Config, args: &StatsArgs) -> Result<()> {
    let dir = &config.storage.data_dir;
    Rocks::must_be_there(dir)?;
    let store = Rocks::open(&Options { may_migrate: false, ..Options::new(dir) })?;
    let (tables, jobs) = (store.stats()?, Jobs::of(&store.jobs()?));
    print(|out| if args.json { json(out, &tables, &jobs) } else { table(out, &tables, &jobs) })
}

/// Jobs on disk, under the names of `/v1/admin/stats` and `/metrics`.
#[derive(Debug, Default, Serialize)]
struct Jobs {
    waiting: u64,
    fan_out: u64,
    settle: u64,
    rebuild: u64,
}

impl Jobs {
    fn of(jobs: &[Job]) -> Self {
        let count = |is: fn(&Work) -> bool| jobs.iter().filter(|job| is(&job.work)).count() as u64;
        Self {
            waiting: jobs.len() as u64,
            fan_out: count(|work| matches!(work, Work::FanOut { .. })),
            settle: count(|work| matches!(work, Work::Settle { .. })),
            rebuild: count(|work| matches!(work, Work::Rebuild { .. })),
        }
    }
}

fn table(out: &mut dyn Write, tables: &[TableStats], jobs: &Jobs) -> io::Result<()> {
    let width = tables.iter().map(|t| t.table.len()).max().unwrap_or(0).max("table".len());
    writeln!(out, "{:width$}  {:>15}  {:>12}", "table", "rows (estimate)", "bytes")?;
    for TableStats { table, rows, bytes } in tables {
        writeln!(out, "{table:width$}  {rows:>15}  {:>12}", HumanBytes(*bytes).to_string())?;
    }
    let Jobs { waiting, fan_out, settle, rebuild } = jobs;
    writeln!(out, "jobs waiting: {waiting} ({fan_out} fan_out, {settle} settle, {rebuild} rebuild)")
}

fn json(out: &mut dyn Write, tables: &[TableStats], jobs: &Jobs) -> io::Result<()> {
    let figures =
        |t: &TableStats| (t.table.to_owned(), serde_json::json!({ "rows_estimate": t.rows, "bytes": t.bytes }));
    let tables: serde_json::Map<_, _> = tables.iter().map(figures).collect();
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, "{}", serde_json::json!({ "version": version, "jobs": jobs, "tables": tables }))
}
