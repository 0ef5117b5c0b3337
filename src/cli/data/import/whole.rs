//! The lines of files for other commands, which refuse a file with a line that an import would refuse.

use std::path::Path;

use super::reader::each_batch;
use super::source::Source;
use crate::cli::data::tables::Table;
use crate::cli::terminal::interrupt::Interrupt;
use config::Config;
use feed::Command;
use model::error::{Error, Result};

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

#[cfg(test)]
mod tests {
    use super::*;
    use feed::ImportFollows;

    #[test]
    fn rows_come_in_order_and_a_refused_line_ends_the_file() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("f.csv");
        let read = |text: &str, asked: bool| {
            std::fs::write(&path, text).expect("writes");
            let mut seen = Vec::new();
            let (sender, interrupt) = Interrupt::never();
            let _sender = (!asked).then_some(sender);
            let done = each_line(Table::Follows, &path, &interrupt, |line| {
                let Command::ImportFollows(ImportFollows { user, follows, .. }) = line else { panic!("{line:?}") };
                seen.push(format!("{user}-{}", follows[0].0));
                Ok(())
            });
            (seen.join(" "), done.map_err(|error| error.to_string()))
        };
        assert_eq!(read("user_id,target_id\n1,2\nann,2\n", false), ("1-2 ann-2".to_owned(), Ok(())));
        let (seen, done) = read("1,2\n3\n", false);
        assert_eq!(seen, "");
        let error = done.expect_err("refused");
        assert!(error.contains("f.csv:2: missing_field: target_id is missing"), "{error}");
        let mut interrupted = read("1,2\n", true);
        while interrupted.1.is_ok() {
            // The batch came first.
            interrupted = read("1,2\n", true);
        }
        assert!(interrupted.1.expect_err("interrupted").starts_with("interrupted"));
    }
}
