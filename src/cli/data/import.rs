//! `tideline import`: follows, content, reactions and profiles from files, as if each line were sent to the API.

mod fields;
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
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::{ArgGroup, Args};
use crossbeam_channel::select;

use self::reader::Reader;
use self::refusal::{Refusal, Refused, lines};
use self::rows::Row;
use self::source::Source;
use self::spellings::Spellings;
use super::drain::drain;
use crate::cli::terminal::interrupt::Interrupt;
use crate::cli::terminal::progress::{Progress, Unit};
use crate::cli::{print, say};
use crate::server;
use crate::server::App;
use config::{Config, Durability};
use feed::{Follow, Reacting};
use model::Draft;
use model::error::{Code, Error, Result};

/// What to import.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("input").required(true).multiple(true), after_help =
    "CSV columns, in this order unless a header row names them in another order:
  follows:   \
     user_id,target_id[,since]
  content:   content_id,author_id,published_at[,text]
  reactions: \
     content_id,user_id,kind[,since]       (kind: like or favorite)
  profiles:  user_id[,nickname][,avatar][,extra]   \
     (extra: a JSON object)
NDJSON: one object on each line, with the field names of the API. The content of a file \
     tells whether it is
CSV or NDJSON, and whether it is plain, gzip or Zstandard. The FILE - is the standard \
     input.

Follows are imported first, then content, reactions and profiles. A profile replaces the stored profile \
     as
a whole. An import can be run again: lines that are stored already are counted, and change nothing.

A time is \
     whole milliseconds since 1970, at most content.max_ahead (10m) after the clock. PostgreSQL
converts a timestamp t \
     with floor(extract(epoch from t) * 1000)::bigint.

A refused line does not stop the import. The first 1,000 refused \
     lines are listed, as
FILE:LINE: KIND: REASON; all are counted by kind.

stdout: one line of counts for each file. \
     stderr: progress, refused lines, warnings and errors.
Exit code: 0 for success; 1 if more lines were refused than \
     allowed, if lines were refused and none was
imported, or for another error; 2 for wrong usage.")]
pub(crate) struct ImportArgs {
    /// A file of follows; can be given several times
    #[arg(long, value_name = "FILE", group = "input")]
    follows: Vec<PathBuf>,
    /// A file of content; can be given several times
    #[arg(long, value_name = "FILE", group = "input")]
    content: Vec<PathBuf>,
    /// A file of likes and favorites; can be given several times
    #[arg(long, value_name = "FILE", group = "input")]
    reactions: Vec<PathBuf>,
    /// A file of profiles; can be given several times
    #[arg(long, value_name = "FILE", group = "input")]
    profiles: Vec<PathBuf>,
    /// Succeed if at most N lines, of all files together, are refused
    #[arg(long, value_name = "N", default_value_t = 0)]
    allow_refused: u64,
    /// Print no counts of lines.
    #[arg(skip)]
    quiet: bool,
}

impl ImportArgs {
    /// One file of each kind, without refused lines, and without output on stdout.
    pub(crate) fn of(follows: PathBuf, content: PathBuf, reactions: PathBuf, profiles: PathBuf) -> Self {
        let [follows, content, reactions, profiles] = [follows, content, reactions, profiles].map(|path| vec![path]);
        Self { follows, content, reactions, profiles, allow_refused: 0, quiet: true }
    }
}

/// The result of one row.
enum Outcome {
    New,
    Same,
    Refused(Refusal),
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
}

/// The open files of each table.
struct Sources {
    follows: Vec<Source>,
    content: Vec<Source>,
    reactions: Vec<Source>,
    profiles: Vec<Source>,
}

pub(crate) fn run(mut config: Config, args: &ImportArgs) -> Result<()> {
    // Single writes are not flushed: all are at the end, and an interrupted run is repeated.
    config.storage.durability = Durability::Os;
    let all = [&args.follows, &args.content, &args.reactions, &args.profiles];
    if all.into_iter().flatten().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(Error::Setup("the standard input (-) can be given only once".to_owned()));
    }
    let open = |paths: &[PathBuf]| paths.iter().map(|path| Source::open(path)).collect::<Result<Vec<_>>>();
    let sources = Sources {
        follows: open(&args.follows)?,
        content: open(&args.content)?,
        reactions: open(&args.reactions)?,
        profiles: open(&args.profiles)?,
    };
    let interrupt = Interrupt::catch()?;
    let app = server::open(&config)?;
    if let Some(node) = app.node() {
        node.catch_up(|| interrupt.was_asked())?;
    }
    let longest = config.server.body_limit;
    let mut import = Import {
        app: &app,
        interrupt,
        longest,
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
    fn all(&mut self, sources: Sources) -> Result<()> {
        let taken = self.files(sources).and_then(|()| drain(self.app, &|| self.interrupt.was_asked()));
        if taken.as_ref().is_ok_and(|drained| !drained) {
            tracing::warn!("the import was interrupted; the remaining jobs continue after the next start");
        }
        taken.map(drop).and(self.app.feed().store().sync())
    }

    fn files(&mut self, sources: Sources) -> Result<()> {
        let feed = Arc::clone(self.app.feed());
        for source in sources.follows {
            self.file("follows", source, |rows: Vec<Follow>| outcomes(feed.import_follows(rows)?))?;
        }
        for source in sources.content {
            self.file("content", source, |rows: Vec<Draft>| outcomes(feed.import(rows)?))?;
        }
        // A reaction needs its item.
        for source in sources.reactions {
            self.file("reactions", source, |rows: Vec<Reacting>| outcomes(feed.import_reactions(rows)?))?;
        }
        for source in sources.profiles {
            self.file("profiles", source, |rows| outcomes(feed.import_profiles(rows)?))?;
        }
        Ok(())
    }

    fn file<T: Row>(
        &mut self,
        table: &'static str,
        source: Source,
        mut take: impl FnMut(Vec<T>) -> Result<Vec<Outcome>>,
    ) -> Result<()> {
        let progress = Progress::new(format!("{table} {}", source.name), source.length, Unit::Bytes);
        let position = Arc::clone(&source.read);
        self.tallies.push(Tally { table, name: source.name.clone(), ..Tally::default() });
        let Some(tally) = self.tallies.last_mut() else { return Ok(()) };
        let Reader::<T> { batches, thread } = reader::read(source, self.longest)?;
        loop {
            let batch = select! {
                recv(batches) -> batch => batch,
                recv(self.interrupt.asked()) -> _ => return Err(interrupted()),
            };
            let Ok(batch) = batch else { break };
            let early = |row: &T| row.time().is_some_and(|at| at < times::EARLY);
            for (line, row) in &batch.rows {
                self.spellings.note(row.ids().into_iter().flatten(), table, &tally.name, *line);
            }
            let lines: Vec<_> = batch.rows.iter().map(|(line, row)| (*line, early(row))).collect();
            let rows: Vec<T> = batch.rows.into_iter().map(|(_, row)| row).collect();
            let outcomes = if rows.is_empty() { Vec::new() } else { take(rows)? };
            let mut refused = batch.refused;
            for ((line, early), outcome) in lines.into_iter().zip(outcomes) {
                match outcome {
                    Outcome::New => tally.new += 1,
                    Outcome::Same => tally.same += 1,
                    Outcome::Refused(refusal) => {
                        refused.push((line, refusal));
                        continue;
                    }
                }
                if early {
                    tally.first_early = if tally.early == 0 { line } else { tally.first_early };
                    tally.early += 1;
                }
            }
            tally.refused += refused.len() as u64;
            self.refused.add(&tally.name, refused, &progress);
            progress.at(position.load(Ordering::Relaxed), tally.remark(&progress));
        }
        thread.join().unwrap_or_else(|_| Err(Error::Setup(format!("the thread that reads {} panicked", tally.name))))
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
        let Self { table, name, new, same, refused, early, first_early } = self;
        if new + same + refused == 0 {
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

/// The outcome of each row: new, same or refused.
fn outcomes(taken: impl IntoIterator<Item = Result<bool>>) -> Result<Vec<Outcome>> {
    let outcome = |taken| match taken {
        Ok(true) => Ok(Outcome::New),
        Ok(false) => Ok(Outcome::Same),
        Err(error) => Refusal::of_error(error).map(Outcome::Refused),
    };
    taken.into_iter().map(outcome).collect()
}
