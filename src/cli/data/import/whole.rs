//! The rows of files for other commands, which refuse a file with a line that an import would refuse.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::reader::each_batch;
use super::refusal::Refusal;
use super::rows::object;
use super::source::Source;
use crate::cli::data::tables::Table;
use crate::cli::terminal::interrupt::Interrupt;
use config::Config;
use model::error::{Error, Result};

/// Gives each row of a file to `take`.
pub(in crate::cli) fn each_row<L: DeserializeOwned + 'static, T: Send + 'static>(
    table: Table,
    path: &Path,
    row: fn(L) -> Result<T, Refusal>,
    interrupt: &Interrupt,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let source = Source::open(path)?;
    let name = source.name.clone();
    let parse = move |text: &str| object(text).and_then(row);
    let longest = Config::default().server.body_limit;
    let is_whole = each_batch(table, source, longest, parse, interrupt, |batch, _| {
        // None of a batch with a refused line.
        let row = |(line, row): (u64, Result<T, Refusal>)| {
            row.map_err(|refusal| Error::Setup(format!("{name}:{line}: {refusal}")))
        };
        let rows = batch.into_iter().map(row).collect::<Result<Vec<_>>>()?;
        rows.into_iter().try_for_each(&mut take).map(|()| String::new())
    })?;
    if is_whole { Ok(()) } else { Err(Error::Setup(format!("interrupted while {name} was read"))) }
}
