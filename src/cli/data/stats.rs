//! `tideline stats`: amounts of stored data.

use indicatif::HumanBytes;

use crate::cli::terminal::table::{self, Column};
use crate::prelude::*;
use feed::store::Options;
use kv::TableStats;
use model::{Job, Work};

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
    kv::must_be_there(dir)?;
    let store = Store::open(&Options::new(dir))?;
    let (tables, jobs) = (store.usage()?.tables, counts(&feed::inbox::tables::jobs(&store)?));
    print(|out| if args.json { json(out, &tables, jobs) } else { text(out, &tables, jobs) })
}

/// The numbers of jobs on disk: all, fan-outs, settles and rebuilds.
fn counts(jobs: &[Job]) -> [usize; 4] {
    let count = |is: fn(&Work) -> bool| jobs.iter().filter(|job| is(&job.work)).count();
    [
        jobs.len(),
        count(|work| matches!(work, Work::FanOut { .. })),
        count(|work| matches!(work, Work::Settle { .. })),
        count(|work| matches!(work, Work::Rebuild { .. })),
    ]
}

fn text(out: &mut dyn Write, tables: &[TableStats], [all, fan_outs, settles, rebuilds]: [usize; 4]) -> io::Result<()> {
    let columns = [Column::Text("table", 0), Column::Figure("rows (estimate)", 0), Column::Figure("bytes", 12)];
    let row = |of: &TableStats| [of.table.to_owned(), of.rows.to_string(), HumanBytes(of.bytes).to_string()];
    table::write(out, columns, tables.iter().map(row))?;
    writeln!(out, "jobs waiting: {all} ({fan_outs} fan_out, {settles} settle, {rebuilds} rebuild)")
}

/// Under the names of `/v1/admin/stats` and `/metrics`.
fn json(out: &mut dyn Write, tables: &[TableStats], [all, fan_outs, settles, rebuilds]: [usize; 4]) -> io::Result<()> {
    let figures =
        |t: &TableStats| (t.table.to_owned(), serde_json::json!({ "rows_estimate": t.rows, "bytes": t.bytes }));
    let tables: serde_json::Map<_, _> = tables.iter().map(figures).collect();
    let jobs = serde_json::json!({ "waiting": all, "fan_out": fan_outs, "settle": settles, "rebuild": rebuilds });
    let version = env!("CARGO_PKG_VERSION");
    writeln!(out, "{}", serde_json::json!({ "version": version, "jobs": jobs, "tables": tables }))
}
