//! `tideline compact`: rewrites all tables, trims long lists, purges items deleted long enough ago, and prints the
//! result.

use std::ops::ControlFlow;

use indicatif::HumanBytes;

use super::drain::{drain, failing};
use super::stopped_server::{each_user, on_directory};
use crate::cli::terminal::units::counted;
use crate::prelude::*;
use feed::worker::slack;
use kv::{TableStats, Tier};
use model::{Order, Span};

/// Interval of the checks whether the trims are done.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Compacts until a compaction finds nothing to trim or purge.
pub(crate) fn run(config: &Config) -> Result<()> {
    let (inboxes, tables) = on_directory(config, StartOptions::default(), |app| {
        drain(app, &|| false).and_then(|_| compact(app))?;
        let store = &**app.feed().store();
        Ok((Inboxes::count(store)?, store.usage()?.tables))
    })?;
    report(&inboxes, &tables, config.timeline.inbox_limit)
}

fn compact(app: &App) -> Result<()> {
    let progress = Progress::new("compact", None, Unit::Count("rounds"));
    let trims = || {
        let tally = &app.figures().tally;
        tally.archived.get() + tally.topics_archived.get() + tally.purged.get()
    };
    let (mut before, failures) = (trims(), app.figures().tally.failures.get());
    for round in 1_u64.. {
        app.feed().store().compact()?;
        while app.figures().trims_waiting() > 0 {
            std::thread::sleep(LOOK_EVERY);
        }
        // A trim that fails waits for the next compaction.
        if app.figures().tally.failures.get() > failures {
            return Err(failing(app, "trims"));
        }
        let trimmed = trims() - before;
        progress.at(round, format_args!("{trimmed} trims and purges"));
        if trimmed == 0 {
            break;
        }
        before += trimmed;
    }
    Ok(())
}

/// All inboxes, above their floors.
#[derive(Debug, Default)]
struct Inboxes {
    users: u64,
    rows: u64,
    longest: u64,
}

impl Inboxes {
    fn count(store: &Store) -> Result<Self> {
        let mut inboxes = Self::default();
        each_user(store, |user| {
            let mut rows = 0;
            feed::inbox::tables::inbox(store, user, Span::ALL, Order::NewestFirst, Tier::Disk, &mut |_| {
                rows += 1;
                ControlFlow::Continue(())
            })?;
            inboxes.users += u64::from(rows > 0);
            inboxes.rows += rows;
            inboxes.longest = inboxes.longest.max(rows);
            Ok(())
        })?;
        Ok(inboxes)
    }
}

fn report(inboxes: &Inboxes, tables: &[TableStats], limit: usize) -> Result<()> {
    let inbox = tables.iter().find(|table| table.table == "inboxes");
    let (rows, bytes) = inbox.map_or((0, 0), |inbox| (inbox.rows, inbox.bytes));
    let all: u64 = tables.iter().map(|table| table.bytes).sum();
    print(|out| {
        writeln!(out, "all tables: {}", HumanBytes(all))?;
        writeln!(
            out,
            "inboxes: {}, {}, the largest has {} (limit {limit}, slack {})",
            counted(inboxes.users, "user", "users"),
            counted(inboxes.rows, "entry", "entries"),
            inboxes.longest,
            slack(limit)
        )?;
        let per_entry = bytes as f64 / inboxes.rows.max(1) as f64;
        writeln!(out, "table inboxes: {rows} rows, {bytes} bytes, {per_entry:.1} bytes per entry")
    })
}
