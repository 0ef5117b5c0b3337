//! The lines of files for other commands, which refuse a file with a line that an import would refuse.

use super::reader::each_batch;
use super::source::Source;
use crate::cli::data::tables::Table;
use crate::prelude::*;
use feed::Command;

/// Gives each line of a file to `take`, as the change that it is.
pub(in crate::cli) fn each_line(
    table: Table,
    path: &Path,
    interrupt: &Interrupt,
    mut take: impl FnMut(Command) -> Result<()>,
) -> Result<()> {
    let source = Source::open(path)?;
    let name = source.name.clone();
    let longest = Config::default().server.body_limit;
    let is_whole = each_batch(table, source, longest, interrupt, |batch, _| {
        // None of a batch with a refused line.
        let change = |(line, change): (u64, Result<_, _>)| {
            change.map_err(|refusal| Error::Setup(format!("{name}:{line}: {refusal}")))
        };
        let changes = batch.into_iter().map(change).collect::<Result<Vec<_>>>()?;
        changes.into_iter().try_for_each(&mut take).map(|()| String::new())
    })?;
    if is_whole { Ok(()) } else { Err(Error::Setup(format!("interrupted while {name} was read"))) }
}
