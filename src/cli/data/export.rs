//! `tideline export`: the files that an import reads, from a directory that no server uses.

pub(super) mod output;

use std::collections::HashSet;

use self::output::Output;
use super::files::Files;
use super::lines::{Scope, Table};
use crate::cli::terminal::part_file::Part;
use crate::cli::terminal::units;
use crate::prelude::*;
use feed::reader::Reader;

/// The tables to export.
#[derive(Debug, Args)]
#[command(after_help = include_str!("export/help.txt").trim_end())]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    files: Files<false>,
}

/// Exports the tables that have a file.
pub(crate) fn run(config: &Config, args: &ExportArgs) -> Result<()> {
    let Files(files) = &args.files;
    let paths: Vec<_> = files.iter().map(|(_, path)| path).collect();
    paths.iter().try_for_each(|path| Output::must_be_free(path))?;
    must_be_apart(&paths, &config.storage.data_dir)?;
    let interrupt = Interrupt::catch()?;
    // Nothing is written, so the engine needs next to nothing for it.
    let reader = Reader::open(&server::options(config).with(|engine| engine.write_buffer = 1 << 20))?;
    let latest = now().saturating_add(config.content.max_ahead.as_millis());
    let deleted = files.iter().any(|(table, _)| *table == Table::Deletions);
    let scope = Scope { reader: &reader, kinds: &config.reactions.kinds, deleted };
    let mut outputs = Vec::new();
    for (table, path) in files {
        let about = Some(reader.about(table.declared().on_disk));
        let mut output = Output::begin(path, table.name(), about, &interrupt, latest)?;
        table.write(&scope, &mut output)?;
        outputs.push(output.end()?);
    }
    // All of them, or none.
    let mut lines = Vec::new();
    let mut warnings: Vec<_> = (reader.erasing() > 0).then(|| being_erased(reader.erasing())).into_iter().collect();
    for (done, part) in outputs {
        part.map_or(Ok(()), Part::finish)?;
        lines.push(format!("{} {}: {}", done.table, done.name, units::lines(done.lines)));
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
    let who = units::counted(users as u64, "user is", "users are");
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
        let is_stdout = path.as_os_str() == "-";
        let (folder, name) = (whole(Part::folder(path)), path.file_name().unwrap_or_default());
        if !is_stdout && folder.starts_with(&data) {
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
