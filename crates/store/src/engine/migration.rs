//! Takes a directory of an earlier format to the present one. `docs/schema.md` says how a format changes.
//!
//! Before anything changes, the plan is logged and the free space is looked at. Then `FORMAT` names the new format and
//! the one before, so that no earlier version opens the directory any more. Each part of a step is one change that can
//! be repeated, so a start after a crash continues. At the end `FORMAT` names the new format alone. The next start
//! drops the tables that are not used any more.

use std::time::{Duration, Instant};
use std::{fmt, fs};

use rocksdb::{DB, properties};
use rustix::fs::statvfs;

use super::advice;
use super::directory::{CURRENT, Directory, EARLIEST};
use super::health::{least, room};
use crate::engine::open::log_limit;
use crate::rows::access::scanning;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::{EFFECTS, EVENTS};
use crate::rows::values;
use crate::{Options, Rocks, storage};
use model::error::{Error, Result};
use model::failpoint;
use model::failpoint::{Failpoint, Write};
use model::store::Upkeep;

/// Rows in one change.
const ROWS: usize = 1000;
/// The interval of log messages about the progress.
const TELL_EVERY: Duration = Duration::from_secs(5);
/// Free space beside the new rows and the log, bytes.
const BESIDES: u64 = 16 << 20;
/// Free space for the rows, as a multiple of their bytes, in halves: for the rows in their new tables, for the deletions
/// of the old ones, and for compactions of both. Measured with 4.9 million moved rows: 2.2 times; with the words of a
/// million profiles of nicknames alone: 1.4 times.
const HALVES: u64 = 5;

/// A step from one format to the next.
struct Step {
    /// The format before.
    from: u32,
    /// In words, for the plan.
    about: &'static str,
    /// The tables whose rows it goes through and that stay.
    kept: &'static [&'static str],
    /// The tables that it empties, and that no version uses afterwards.
    retired: &'static [&'static str],
    run: fn(&Rocks, &mut Progress) -> Result<()>,
}

/// All steps, ascending.
const STEPS: &[Step] = &[Step {
    from: 6,
    about: "the rows of effects come into the log of events",
    kept: &[],
    retired: &[EFFECTS.name],
    run: move_effects,
}];

const _: () = assert!(match STEPS {
    [first, ..] => first.from == EARLIEST,
    [] => EARLIEST == CURRENT,
});

/// A migration that a directory needs.
#[derive(Debug)]
pub struct Migration {
    /// The format of the directory.
    pub from: u32,
    /// The steps in words, in order.
    pub steps: Vec<&'static str>,
    /// Whether an earlier start began it.
    pub has_begun: bool,
    /// The rows to go through, as the engine estimates them.
    pub rows: u64,
    /// Free bytes that it needs.
    pub needs: u64,
    /// Free bytes on the file system.
    pub free: u64,
}

impl Migration {
    /// Whether enough is free. A migration that has begun needs no leave: it cannot be given up, and goes on as far as
    /// there is room.
    pub fn has_room(&self) -> bool {
        self.has_begun || self.free >= self.needs
    }
}

impl fmt::Display for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, rows, needs, free, .. } = self;
        let begun = if self.has_begun { ", continued" } else { "" };
        write!(
            f,
            "format {from} to {CURRENT}{begun}: {}; about {rows} rows to read; needs {} MiB free, {} MiB are free",
            self.steps.join("; "),
            needs.div_ceil(1 << 20),
            free >> 20
        )
    }
}

/// The rows read so far.
struct Progress {
    read: u64,
    of: u64,
    told: Instant,
}

impl Progress {
    fn read(&mut self, rows: usize) {
        self.read += rows as u64;
        if self.told.elapsed() >= TELL_EVERY {
            self.told = Instant::now();
            tracing::info!(read = self.read, estimated = self.of, "the migration goes on");
        }
    }
}

/// The tables of earlier formats that a directory still has.
pub(crate) fn retired(directory: &Directory, options: &Options) -> Result<Vec<&'static str>> {
    let path = directory.engine();
    if !path.join("CURRENT").exists() {
        return Ok(Vec::new());
    }
    let names = DB::list_cf(&rocksdb::Options::default(), path);
    let names = names.map_err(|error| advice::cannot_open(&options.dir, &error))?;
    let retired = STEPS.iter().flat_map(|step| step.retired).copied();
    Ok(retired.filter(|retired| names.iter().any(|name| name == retired)).collect())
}

/// Drops the empty tables of earlier formats. Fails if one has rows: then `FORMAT` is not as this program wrote it.
pub(crate) fn drop_retired(db: &mut DB, retired: &[&str], options: &Options) -> Result<()> {
    for table in retired {
        if let Some(family) = db.cf_handle(table) {
            let mut rows = db.raw_iterator_cf_opt(family, scanning());
            rows.seek_to_first();
            rows.status().map_err(storage)?;
            if rows.valid() {
                let by = STEPS.iter().find(|step| step.retired.contains(table));
                return Err(Error::Setup(format!(
                    "data directory {}: the table {table} of an earlier format has rows, but FORMAT names format {CURRENT}. \
                     FORMAT was changed by hand: restore a backup, or write the earlier format to FORMAT again, such as \"tideline format {}\"",
                    options.dir.display(),
                    by.map_or(EARLIEST, |step| step.from)
                )));
            }
        }
        db.drop_cf(table).map_err(storage)?;
    }
    Ok(())
}

/// The migration that a directory of this format needs. Changes nothing.
fn plan(directory: &Directory, from: u32, options: &Options) -> Result<Migration> {
    let (rows, bytes) = to_read(directory, from, options)?;
    let system = statvfs(&options.dir).map_err(|e| Error::Setup(format!("{}: {e}", options.dir.display())))?;
    let (free, all) = room(&system);
    Ok(Migration {
        from,
        steps: steps(from).map(|step| step.about).collect(),
        has_begun: directory.is_migrating(),
        rows,
        needs: bytes * HALVES / 2 + log_limit(options.write_buffer) + BESIDES + least(options.min_free, all),
        free,
    })
}

/// The rows that the steps go through, and their bytes, as the engine estimates them.
fn to_read(directory: &Directory, from: u32, options: &Options) -> Result<(u64, u64)> {
    let (mut rows, mut bytes) = (0, 0);
    let path = directory.engine();
    if !path.join("CURRENT").exists() {
        return Ok((rows, bytes));
    }
    let mut engine = rocksdb::Options::default();
    // Otherwise the engine would stop tracking the logs, and crash where it may not write that down.
    engine.set_track_and_verify_wals_in_manifest(true);
    engine.set_max_open_files(options.max_open_files);
    let names = DB::list_cf(&engine, &path).map_err(|error| advice::cannot_open(&options.dir, &error))?;
    let db = match DB::open_cf_for_read_only(&engine, &path, names, false) {
        Ok(db) => db,
        // A log that is damaged, or has just been cut, cannot be opened so. All files together are the most to move.
        Err(_) if options.accept_log_loss => {
            let files = fs::read_dir(&path).map_err(|e| Error::Setup(format!("{}: {e}", path.display())))?;
            let sizes = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len()));
            return Ok((rows, sizes.sum()));
        }
        Err(error) => return Err(advice::cannot_open(&options.dir, &error)),
    };
    for table in steps(from).flat_map(|step| step.kept.iter().chain(step.retired)) {
        // One that came later is not there yet.
        let Some(family) = db.cf_handle(table) else { continue };
        let figure = |name| db.property_int_value_cf(family, name).map(Option::unwrap_or_default).map_err(storage);
        rows += figure(properties::ESTIMATE_NUM_KEYS)?;
        bytes += figure(properties::TOTAL_SST_FILES_SIZE)? + figure(properties::SIZE_ALL_MEM_TABLES)?;
    }
    Ok((rows, bytes))
}

fn steps(from: u32) -> impl Iterator<Item = &'static Step> {
    STEPS.iter().filter(move |step| step.from >= from)
}

/// Announces the migration that a directory needs, if it has room for it. Returns about how many rows it reads.
pub(crate) fn begin(directory: &Directory, options: &Options) -> Result<u64> {
    let Some(from) = directory.earlier_format() else { return Ok(0) };
    let dir = options.dir.display();
    if !options.may_migrate {
        return Err(Error::Setup(format!(
            "data directory {dir} has the format {from} of an earlier version: run \"tideline migrate --data-dir {dir}\" first"
        )));
    }
    let plan = plan(directory, from, options)?;
    if !plan.has_room() {
        return Err(Error::Setup(format!(
            "data directory {dir}: no room for the migration, which has changed nothing: {plan}. Free some space, or use \
             the version that wrote the directory"
        )));
    }
    tracing::info!(data_dir = %dir, "the data directory is migrated: {plan}");
    directory.engine_is_writable()?;
    directory.set_format(Some(from))?;
    failpoint::pass(Failpoint::MigrationBegun);
    Ok(plan.rows)
}

impl Rocks {
    /// The migration that a directory needs before it can be used; `None` if it has the present format. Changes
    /// nothing.
    pub fn migration(options: &Options) -> Result<Option<Migration>> {
        let directory = Directory::claim(&options.dir)?;
        directory.is_fresh()?;
        directory.earlier_format().map(|from| plan(&directory, from, options)).transpose()
    }

    /// Takes the directory to the present format, if it has an earlier one. The number of rows is for messages.
    pub(crate) fn migrate(&self, rows: u64) -> Result<()> {
        let Some(from) = self.directory.earlier_format() else { return Ok(()) };
        let mut progress = Progress { read: 0, of: rows, told: Instant::now() };
        for step in steps(from) {
            (step.run)(self, &mut progress).map_err(|error| {
                let cause = match error.is_unavailable() {
                    true => "the device accepts no writes, see the line above".to_owned(),
                    false => error.to_string(),
                };
                Error::Setup(format!(
                    "the migration from format {} is not complete: {cause}. The next start continues it",
                    step.from
                ))
            })?;
        }
        // All rows, and the deletions of the old ones, are on the device before the format says so.
        self.flush()?;
        self.sync()?;
        failpoint::pass(Failpoint::MigrationMoved);
        self.directory.set_format(None)?;
        tracing::info!(read = progress.read, format = CURRENT, "the migration is done");
        Ok(())
    }

    /// Goes through the rows of a table, many to a change. `add` adds to the change what becomes of a row.
    fn each_in_parts(
        &self,
        table: &str,
        progress: &mut Progress,
        mut add: impl FnMut(&mut WriteBatch, &[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let Some(family) = self.db.cf_handle(table) else { return Ok(()) };
        let mut rows = self.db.raw_iterator_cf_opt(family, scanning());
        rows.seek_to_first();
        let (mut change, mut read) = (WriteBatch::default(), 0);
        while let Some((key, value)) = rows.item() {
            add(&mut change, key, value)?;
            read += 1;
            rows.next();
            if read == ROWS || !rows.valid() {
                progress.read(std::mem::take(&mut read));
                if !change.is_empty() {
                    self.follow_up(Write::Migrate, std::mem::take(&mut change))?;
                }
            }
        }
        rows.status().map_err(storage)
    }
}

/// Moves the rows of `effects` into `events`, where each has the latest time up to it, too.
fn move_effects(store: &Rocks, progress: &mut Progress) -> Result<()> {
    let mut before = store.rows(EVENTS, scanning())?;
    store.each_in_parts(EFFECTS.name, progress, |change, key, value| {
        // A row that cannot be read is moved as it is.
        before.seek_for_prev(key);
        let top = before.item().and_then(|(_, value)| Some(values::events::read_logged(0, value).ok()?.times().1));
        before.status()?;
        change.put(EVENTS, key, values::effects::of_format_6(value, top.unwrap_or_default()));
        change.delete(EFFECTS, key);
        Ok(())
    })
}
