//! `tideline stats`: how much is stored.

use std::io::{self, Write};

use clap::Args;
use indicatif::HumanBytes;

use super::{needs_data, print};
use crate::config::Config;
use crate::error::Result;
use crate::store::rocks::{Options, Rocks};
use crate::store::{Store, TableStats};

/// How to print.
#[derive(Debug, Args)]
pub(super) struct StatsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Opens the store without workers, so that looking changes nothing.
pub(super) fn run(config: &Config, args: &StatsArgs) -> Result<()> {
    let dir = &config.storage.data_dir;
    needs_data(dir)?;
    let store = Store::Rocks(Rocks::open(&Options::new(dir))?);
    let (tables, jobs) = (store.stats()?, store.jobs()?.len());
    print(|out| if args.json { json(out, &tables, jobs) } else { table(out, &tables, jobs) })
}

fn table(out: &mut dyn Write, tables: &[TableStats], jobs: usize) -> io::Result<()> {
    let width = tables.iter().map(|t| t.table.len()).max().unwrap_or(0).max("table".len());
    writeln!(out, "{:width$}  {:>14}  {:>12}", "table", "rows (about)", "bytes")?;
    for TableStats { table, rows, bytes } in tables {
        writeln!(out, "{table:width$}  {rows:>14}  {:>12}", HumanBytes(*bytes).to_string())?;
    }
    writeln!(out, "jobs waiting: {jobs}")
}

fn json(out: &mut dyn Write, tables: &[TableStats], jobs: usize) -> io::Result<()> {
    let tables: Vec<_> =
        tables.iter().map(|t| serde_json::json!({ "table": t.table, "rows": t.rows, "bytes": t.bytes })).collect();
    writeln!(out, "{}", serde_json::json!({ "tables": tables, "jobs_waiting": jobs }))
}
