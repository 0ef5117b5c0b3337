//! `tideline import`: all that a host has from files, as if each line were sent to the API.

mod fields;
mod format;
mod reader;
mod records;
mod refusal;
mod rows;
pub(crate) mod source;
mod spellings;
mod times;
pub(crate) mod whole;

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use self::reader::each_batch;
use self::refusal::{Refusal, Refused};
use self::rows::Row;
use self::rows::deletion::Deletions;
use self::rows::line::{Blocks, Hides, LineOf, Lists, Markers, Members, Mutes, Requests, Settings, Suspensions};
use self::source::Source;
use self::spellings::Spellings;
use super::drain::drain;
use crate::cli::terminal::interrupt::Interrupt;
use crate::cli::terminal::progress::Progress;
use crate::cli::terminal::words::lines;
use crate::cli::{print, say};
use crate::server;
use crate::server::{App, Told};
use config::{Config, Durability};
use feed::{Follow, ImportedItem, ImportedName, Reacting};
use model::error::{Code, Error, Result};
use model::{HostId, Profile};

/// What to import.
#[derive(Debug, Default, Args)]
#[command(group = ArgGroup::new("input").required(true).multiple(true), after_help = include_str!("import/help.txt").trim_end())]
pub(crate) struct ImportArgs {
    /// A file of names and kinds of reactions, each in the order that they have at equal times; each option for a FILE can
    /// be given several times
    #[arg(long, value_name = "FILE", group = "input")]
    names: Vec<PathBuf>,
    /// A file of settings of users
    #[arg(long, value_name = "FILE", group = "input")]
    settings: Vec<PathBuf>,
    /// A file of blocks
    #[arg(long, value_name = "FILE", group = "input")]
    blocks: Vec<PathBuf>,
    /// A file of follows
    #[arg(long, value_name = "FILE", group = "input")]
    follows: Vec<PathBuf>,
    /// A file of requests to follow that wait for an answer
    #[arg(long, value_name = "FILE", group = "input")]
    requests: Vec<PathBuf>,
    /// A file of mutes
    #[arg(long, value_name = "FILE", group = "input")]
    mutes: Vec<PathBuf>,
    /// A file of hides: who hides content from whom
    #[arg(long, value_name = "FILE", group = "input")]
    hides: Vec<PathBuf>,
    /// A file of lists of users
    #[arg(long, value_name = "FILE", group = "input")]
    lists: Vec<PathBuf>,
    /// A file of members of lists
    #[arg(long, value_name = "FILE", group = "input")]
    list_members: Vec<PathBuf>,
    /// A file of content
    #[arg(long, value_name = "FILE", group = "input")]
    content: Vec<PathBuf>,
    /// A file of reactions
    #[arg(long, value_name = "FILE", group = "input")]
    reactions: Vec<PathBuf>,
    /// A file of deleted items, and of ids of purged ones
    #[arg(long, value_name = "FILE", group = "input")]
    deletions: Vec<PathBuf>,
    /// A file of profiles
    #[arg(long, value_name = "FILE", group = "input")]
    profiles: Vec<PathBuf>,
    /// A file of markers
    #[arg(long, value_name = "FILE", group = "input")]
    markers: Vec<PathBuf>,
    /// A file of suspended users
    #[arg(long, value_name = "FILE", group = "input")]
    suspensions: Vec<PathBuf>,
    /// Succeed if at most N lines, of all files together, are refused
    #[arg(long, value_name = "N", default_value_t = 0)]
    allow_refused: u64,
    /// Print no counts of lines.
    #[arg(skip)]
    quiet: bool,
}

impl ImportArgs {
    /// One file of each kind, without refused lines, and without output on stdout.
    pub(crate) fn of(files: [PathBuf; 4]) -> Self {
        let [follows, content, reactions, profiles] = files.map(|path| vec![path]);
        Self { follows, content, reactions, profiles, quiet: true, ..Self::default() }
    }

    /// The files of each table with their import, in the order in which a line may need another one. Follows over a block
    /// are refused, in a second run too. A deleted item takes no reactions. A suspension comes last: it hides items from the
    /// lines before it.
    fn tables(&self) -> [(&[PathBuf], Take); 15] {
        [
            (&self.names, |import, source| import.file::<ImportedName>(source)),
            (&self.settings, |import, source| import.file::<LineOf<Settings>>(source)),
            (&self.blocks, |import, source| import.file::<LineOf<Blocks>>(source)),
            (&self.follows, |import, source| import.file::<Follow>(source)),
            (&self.requests, |import, source| import.file::<LineOf<Requests>>(source)),
            (&self.mutes, |import, source| import.file::<LineOf<Mutes>>(source)),
            (&self.hides, |import, source| import.file::<LineOf<Hides>>(source)),
            (&self.lists, |import, source| import.file::<LineOf<Lists>>(source)),
            (&self.list_members, |import, source| import.file::<LineOf<Members>>(source)),
            (&self.content, |import, source| import.file::<ImportedItem>(source)),
            (&self.reactions, |import, source| import.file::<Reacting>(source)),
            (&self.deletions, |import, source| import.file::<LineOf<Deletions>>(source)),
            (&self.profiles, |import, source| import.file::<(HostId, Profile)>(source)),
            (&self.markers, |import, source| import.file::<LineOf<Markers>>(source)),
            (&self.suspensions, |import, source| import.file::<LineOf<Suspensions>>(source)),
        ]
    }
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
    let files = || args.tables().into_iter().flat_map(|(paths, take)| paths.iter().map(move |path| (path, take)));
    if files().filter(|(path, _)| path.as_os_str() == "-").count() > 1 {
        return Err(Error::Setup("the standard input (-) can be given only once".to_owned()));
    }
    let sources = files().map(|(path, take)| Ok((Source::open(path)?, take))).collect::<Result<Vec<_>>>()?;
    let interrupt = Interrupt::catch()?;
    let app = server::open(&config, Told { changes: true, ..Told::default() })?;
    if let Some(node) = app.node() {
        node.catch_up(|| interrupt.was_asked())?;
    }
    let mut import = Import {
        app: &app,
        interrupt,
        longest: config.server.body_limit,
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
            lines(refused)
        )));
    }
    Ok(())
}

/// The import of one file.
type Take = fn(&mut Import<'_>, Source) -> Result<()>;

struct Import<'a> {
    app: &'a App,
    interrupt: Interrupt,
    /// Most bytes of a record.
    longest: usize,
    refused: Refused,
    tallies: Vec<Tally>,
    spellings: Spellings,
}

impl Import<'_> {
    fn all(&mut self, sources: Vec<(Source, Take)>) -> Result<()> {
        let taken = sources.into_iter().try_for_each(|(source, take)| take(self, source));
        let taken = taken.and_then(|()| drain(self.app, &|| self.interrupt.was_asked()));
        if taken.as_ref().is_ok_and(|drained| !drained) {
            tracing::warn!("the import was interrupted; the remaining jobs continue after the next start");
        }
        taken.map(drop).and(self.app.feed().store().sync())
    }

    fn file<T: Row>(&mut self, source: Source) -> Result<()> {
        let Self { app, interrupt, longest, refused, tallies, spellings } = self;
        tallies.push(Tally { table: T::TABLE, name: source.name.clone(), ..Tally::default() });
        let Some(tally) = tallies.last_mut() else { return Ok(()) };
        tally.is_whole = each_batch::<T>(source, *longest, interrupt, |mut batch, progress| {
            let mut lines = Vec::with_capacity(batch.rows.len());
            for (line, row) in &batch.rows {
                spellings.note(row.ids(), T::TABLE, &tally.name, *line);
                lines.push((*line, row.time().is_some_and(|at| at < times::EARLY)));
            }
            let rows: Vec<T> = batch.rows.into_iter().map(|(_, row)| row).collect();
            let stored = if rows.is_empty() { Vec::new() } else { T::STORE(app.feed(), rows)? };
            for ((line, is_early), stored) in lines.into_iter().zip(stored) {
                match stored {
                    Ok(true) => tally.new += 1,
                    Ok(false) => tally.same += 1,
                    Err(error) => {
                        batch.refused.push((line, Refusal::of_error(error)?));
                        continue;
                    }
                }
                if is_early {
                    tally.first_early = if tally.early == 0 { line } else { tally.first_early };
                    tally.early += 1;
                }
            }
            tally.refused += batch.refused.len() as u64;
            refused.add(&tally.name, batch.refused, progress);
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
                lines(*early)
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
