//! `tideline import`: all that a host has from files, as if each line were sent to the API.

pub(super) mod csv;
pub(super) mod fields;
mod format;
pub(super) mod ndjson;
pub(crate) mod reader;
pub(super) mod refusal;
pub(crate) mod source;
mod spellings;
pub(super) mod split_records;
mod times;

use self::reader::each_batch;
use self::refusal::{Refusal, Refused};
use self::source::Source;
use self::spellings::Spellings;
use super::drain::drain;
use super::files::Files;
use super::lines::{Table, columns, time};
use crate::cli::terminal::units;
use crate::prelude::*;
use config::Durability;

/// What to import.
#[derive(Debug, Args)]
#[command(after_help = help())]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    files: Files<true>,
    /// Succeed if at most N lines, of all files together, are refused
    #[arg(long, value_name = "N", default_value_t = 0)]
    allow_refused: u64,
    /// Print no counts of lines.
    #[arg(skip)]
    quiet: bool,
}

impl ImportArgs {
    /// One file of each kind, without refused lines, and without output on stdout.
    pub(crate) fn of([follows, content, reactions, profiles]: [PathBuf; 4]) -> Self {
        let files = vec![
            (Table::Follows, follows),
            (Table::Content, content),
            (Table::Reactions, reactions),
            (Table::Profiles, profiles),
        ];
        Self { files: Files(files), allow_refused: 0, quiet: true }
    }
}

fn help() -> String {
    let rest = include_str!("import/help.txt").trim_end();
    format!("CSV columns, in this order unless a header row names them in another order:\n{}{rest}", columns())
}

/// The result of one file.
#[derive(Debug, Default)]
struct Tally {
    table: &'static str,
    name: String,
    new: u64,
    same: u64,
    refused: u64,
    /// Accepted lines whose time is so early that it may be in seconds.
    early: u64,
    /// The first such line.
    first_early: u64,
    /// Whether the file was read to its end.
    is_whole: bool,
}

pub(crate) fn run(config: &Config, args: &ImportArgs) -> Result<()> {
    let mut config = config.clone();
    // Single writes are not flushed: all are at the end, and an interrupted run is repeated.
    config.storage.durability = Durability::Os;
    let Files(files) = &args.files;
    if files.iter().filter(|(_, path)| path.as_os_str() == "-").count() > 1 {
        return Err(Error::Setup("the standard input (-) can be given only once".to_owned()));
    }
    let sources = files.iter().map(|(table, path)| Ok((*table, Source::open(path)?))).collect::<Result<Vec<_>>>()?;
    let interrupt = Interrupt::catch()?;
    let app = server::open(&config, StartOptions { changes: true, ..StartOptions::default() })?;
    if let Some(node) = app.node() {
        node.catch_up(|| interrupt.was_asked())?;
    }
    let mut import = Import {
        app: &app,
        interrupt,
        refused: Refused::default(),
        tallies: Vec::new(),
        spellings: Spellings::default(),
    };
    let taken = import.all(sources);
    let Import { tallies, refused, spellings, .. } = import;
    let stopped = app.stop(config.server.shutdown_timeout.get());
    if !args.quiet {
        print(|out| tallies.iter().try_for_each(|tally| tally.print(out)))?;
    }
    tallies.iter().for_each(Tally::warn);
    if spellings.differ() {
        say(format_args!(
            "warning: the files spell UUIDs in several ways: {spellings}. Each spelling is an id of its own: if one UUID has \
             two, its user or item is two"
        ));
    }
    if refused.total() > 0 {
        say(&refused);
    }
    taken.map_err(needs_room).and(stopped)?;
    let (refused, allowed) = (refused.total(), args.allow_refused);
    if refused > 0 && tallies.iter().all(|tally| tally.new + tally.same == 0) {
        return Err(Error::Setup("nothing was imported: all lines were refused".to_owned()));
    }
    if refused > allowed {
        let (were, these, them) =
            if refused == 1 { ("was", "this line", "it") } else { ("were", "these lines", "them") };
        return Err(Error::Setup(format!(
            "{} {were} refused; all others are imported. Correct {these} and run the import again, or accept {them} \
             with --allow-refused {refused}",
            units::lines(refused)
        )));
    }
    Ok(())
}

struct Import<'a> {
    app: &'a App,
    interrupt: Interrupt,
    refused: Refused,
    tallies: Vec<Tally>,
    spellings: Spellings,
}

impl Import<'_> {
    fn all(&mut self, sources: Vec<(Table, Source)>) -> Result<()> {
        let taken = sources.into_iter().try_for_each(|(table, source)| self.take(table, source));
        let taken = taken.and_then(|()| drain(self.app, &|| self.interrupt.was_asked()));
        if taken.as_ref().is_ok_and(|drained| !drained) {
            tracing::warn!("the import was interrupted; the remaining jobs continue after the next start");
        }
        taken.map(drop).and(self.app.feed().store().sync())
    }

    fn take(&mut self, table: Table, source: Source) -> Result<()> {
        let Self { app, interrupt, refused, tallies, spellings } = self;
        tallies.push(Tally { table: table.name(), name: source.name.clone(), ..Tally::default() });
        let Some(tally) = tallies.last_mut() else { return Ok(()) };
        tally.is_whole =
            each_batch(table, source, app.feed().config().server.body_limit, interrupt, |batch, progress| {
                let (mut lines, mut changes, mut bad) = (Vec::with_capacity(batch.len()), Vec::new(), Vec::new());
                for (line, change) in batch {
                    match change {
                        Ok(change) => {
                            spellings.note(change.ids(), tally.table, &tally.name, line);
                            lines.push((line, time(&change).is_some_and(|at| at < times::EARLY)));
                            changes.push(change);
                        }
                        Err(refusal) => bad.push((line, refusal)),
                    }
                }
                for ((line, is_early), made) in lines.into_iter().zip(app.feed().import(changes)?) {
                    match made {
                        Ok(true) => tally.new += 1,
                        Ok(false) => tally.same += 1,
                        Err(error) => {
                            bad.push((line, Refusal::of_error(error)?));
                            continue;
                        }
                    }
                    if is_early {
                        tally.first_early = if tally.early == 0 { line } else { tally.first_early };
                        tally.early += 1;
                    }
                }
                tally.refused += bad.len() as u64;
                refused.add(&tally.name, bad, progress);
                Ok(tally.remark(progress))
            })?;
        if tally.is_whole { Ok(()) } else { Err(interrupted()) }
    }
}

impl Tally {
    fn remark(&self, progress: &Progress) -> String {
        let Self { new, same, refused, .. } = self;
        let rate = progress.rate(new + same + refused);
        format!("{new} new, {same} already there, {refused} refused, {rate} lines/s")
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Self { table, name, new, same, refused, .. } = self;
        writeln!(out, "{table} {name}: {new} new, {same} already there, {refused} refused")
    }

    /// Warns of a file without lines, and of times that may be in seconds.
    fn warn(&self) {
        let Self { table, name, new, same, refused, early, first_early, is_whole } = self;
        if *is_whole && new + same + refused == 0 {
            say(format_args!("warning: {table} {name}: the file has no lines to import"));
        }
        if *early > 0 {
            say(format_args!(
                "warning: {table} {name}: {} with a time before 1990, first at line {first_early}, perhaps in seconds. \
                 A time is milliseconds since 1970. These lines were imported unchanged",
                units::lines(*early)
            ));
        }
    }
}

/// Adds advice if the storage accepts no changes. No client retries here.
fn needs_room(error: Error) -> Error {
    match error {
        Error::Refused { code: Code::StorageUnavailable, .. } => Error::Setup(
            "the storage accepts no changes; the log on stderr has the cause. The lines imported so far are kept. Free \
             some space, then run the import again"
                .to_owned(),
        ),
        error => error,
    }
}

fn interrupted() -> Error {
    Error::Setup("interrupted. The lines imported so far are kept; the import can be run again".to_owned())
}
