//! `tideline export`: the files that an import reads, from a directory that no server uses.

mod lines;
mod output;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};

use self::lines::{Scope, Take};
use self::output::Output;
use crate::cli::terminal::interrupt::Interrupt;
use crate::cli::terminal::part::Part;
use crate::cli::terminal::words;
use crate::cli::{print, say};
use crate::server;
use config::Config;
use model::clock::now;
use model::error::{Error, Result};
use store::{Options, Reader};

/// The tables to export.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("output").required(true).multiple(true), after_help = include_str!("export/help.txt").trim_end())]
pub(crate) struct ExportArgs {
    /// The file for names and kinds of reactions, each in the order that they have at equal times
    #[arg(long, value_name = "FILE", group = "output")]
    names: Option<PathBuf>,
    /// The file for settings of users
    #[arg(long, value_name = "FILE", group = "output")]
    settings: Option<PathBuf>,
    /// The file for blocks
    #[arg(long, value_name = "FILE", group = "output")]
    blocks: Option<PathBuf>,
    /// The file for follows
    #[arg(long, value_name = "FILE", group = "output")]
    follows: Option<PathBuf>,
    /// The file for requests to follow that wait for an answer
    #[arg(long, value_name = "FILE", group = "output")]
    requests: Option<PathBuf>,
    /// The file for mutes
    #[arg(long, value_name = "FILE", group = "output")]
    mutes: Option<PathBuf>,
    /// The file for hides: who hides content from whom
    #[arg(long, value_name = "FILE", group = "output")]
    hides: Option<PathBuf>,
    /// The file for lists of users
    #[arg(long, value_name = "FILE", group = "output")]
    lists: Option<PathBuf>,
    /// The file for members of lists
    #[arg(long, value_name = "FILE", group = "output")]
    list_members: Option<PathBuf>,
    /// The file for content, with --deletions also for deleted items that can be restored
    #[arg(long, value_name = "FILE", group = "output")]
    content: Option<PathBuf>,
    /// The file for reactions
    #[arg(long, value_name = "FILE", group = "output")]
    reactions: Option<PathBuf>,
    /// The file for deleted items, and for ids of purged ones
    #[arg(long, value_name = "FILE", group = "output")]
    deletions: Option<PathBuf>,
    /// The file for profiles
    #[arg(long, value_name = "FILE", group = "output")]
    profiles: Option<PathBuf>,
    /// The file for markers
    #[arg(long, value_name = "FILE", group = "output")]
    markers: Option<PathBuf>,
    /// The file for suspended users
    #[arg(long, value_name = "FILE", group = "output")]
    suspensions: Option<PathBuf>,
}

/// A table of an import: its name, the name of the table on disk, and the export.
type Table = (&'static str, &'static str, Take);

impl ExportArgs {
    /// The file of each table, in the order in which an import takes them.
    fn tables(&self) -> impl Iterator<Item = (&PathBuf, Table)> {
        let tables: [(_, Table); 15] = [
            (&self.names, ("names", "names_by_number", lines::names)),
            (&self.settings, ("settings", "settings", lines::settings)),
            (&self.blocks, ("blocks", "blocks", lines::blocks)),
            (&self.follows, ("follows", "following", lines::follows)),
            (&self.requests, ("requests", "requests", lines::requests)),
            (&self.mutes, ("mutes", "mutes", lines::mutes)),
            (&self.hides, ("hides", "hidden", lines::hides)),
            (&self.lists, ("lists", "lists", lines::lists)),
            (&self.list_members, ("list-members", "list_members", lines::members)),
            (&self.content, ("content", "content", lines::content)),
            (&self.reactions, ("reactions", "reactions", lines::reactions)),
            (&self.deletions, ("deletions", "deleted", lines::deletions)),
            (&self.profiles, ("profiles", "profiles", lines::profiles)),
            (&self.markers, ("markers", "markers", lines::markers)),
            (&self.suspensions, ("suspensions", "suspended", lines::suspensions)),
        ];
        tables.into_iter().filter_map(|(path, table)| Some((path.as_ref()?, table)))
    }
}

/// Exports the tables that have a file.
pub(crate) fn run(config: &Config, args: &ExportArgs) -> Result<()> {
    let paths: Vec<_> = args.tables().map(|(path, _)| path).collect();
    paths.iter().try_for_each(|path| Output::must_be_free(path))?;
    must_be_apart(&paths, &config.storage.data_dir)?;
    let interrupt = Interrupt::catch()?;
    // Nothing is written, so the engine needs next to nothing for it.
    let reader = Reader::open(&Options { write_buffer: 1 << 20, ..server::options(config) })?;
    let latest = now().saturating_add(config.content.max_ahead.as_millis());
    let scope = Scope { kinds: &config.reactions.kinds, deleted: args.deletions.is_some() };
    let mut outputs = Vec::new();
    for (path, (name, on_disk, take)) in args.tables() {
        let mut output = Output::begin(path, name, Some(reader.about(on_disk)), &interrupt, latest)?;
        take(&reader, &scope, &mut output)?;
        outputs.push(output.end()?);
    }
    // All of them, or none.
    let mut lines = Vec::new();
    let mut warnings: Vec<_> = (reader.erasing() > 0).then(|| being_erased(reader.erasing())).into_iter().collect();
    for output in outputs {
        let done = output.finish()?;
        lines.push(format!("{} {}: {}", done.table, done.name, words::lines(done.lines)));
        warnings.extend(done.warnings());
    }
    if paths.iter().any(|path| path.as_os_str() == "-") {
        lines.iter().for_each(say);
    } else {
        print(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
    }
    warnings.iter().for_each(|warning| say(format_args!("warning: {warning}")));
    Ok(())
}

fn being_erased(users: usize) -> String {
    let who = if users == 1 { "1 user is".to_owned() } else { format!("{users} users are") };
    format!("{who} being erased: what is left of them is not written")
}

/// Refuses a file that is given twice, and one in the data directory, in which an export changes nothing.
fn must_be_apart(paths: &[&PathBuf], data: &Path) -> Result<()> {
    let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let data = whole(data);
    let mut taken = HashSet::new();
    let twice =
        |path: &Path| Error::Setup(format!("{} is given twice; each table needs a file of its own", path.display()));
    for path in paths {
        if path.as_os_str() == "-" {
            if !taken.insert(PathBuf::from("-")) {
                return Err(twice(path));
            }
            continue;
        }
        let (folder, name) = (whole(Part::folder(path)), path.file_name().unwrap_or_default());
        if folder.starts_with(&data) {
            return Err(Error::Setup(format!(
                "{} is in the data directory, in which an export changes nothing; choose another directory",
                path.display()
            )));
        }
        let (file, part) = (folder.join(name), folder.join(Part::name_of(Path::new(name))));
        if !taken.insert(file) || !taken.insert(part) {
            return Err(twice(path));
        }
    }
    Ok(())
}
