//! The rows of files for other commands, which refuse a file with a line that an import would refuse.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::reader::{self, Reader};
use super::rows::Row;
use super::source::Source;
use crate::cli::terminal::progress::{Progress, Unit};
use config::Config;
use feed::Follow;
use model::Draft;
use model::error::{Error, Result};

/// Gives each follow of a file to `take`.
pub(in crate::cli) fn follows(
    path: &Path,
    asked: &dyn Fn() -> bool,
    take: &mut dyn FnMut(Follow) -> Result<()>,
) -> Result<()> {
    each("follows", path, asked, take)
}

/// Gives each item of a file to `take`.
pub(in crate::cli) fn content(
    path: &Path,
    asked: &dyn Fn() -> bool,
    take: &mut dyn FnMut(Draft) -> Result<()>,
) -> Result<()> {
    each("content", path, asked, take)
}

fn each<T: Row>(
    table: &str,
    path: &Path,
    asked: &dyn Fn() -> bool,
    take: &mut dyn FnMut(T) -> Result<()>,
) -> Result<()> {
    let source = Source::open(path)?;
    let name = source.name.clone();
    let progress = Progress::new(format!("{table} {name}"), source.length, Unit::Bytes);
    let position = Arc::clone(&source.read);
    let Reader::<T> { batches, thread } = reader::read(source, Config::default().server.body_limit)?;
    for batch in &batches {
        if asked() {
            return Err(Error::Setup(format!("interrupted while {name} was read")));
        }
        if let Some((line, refusal)) = batch.refused.first() {
            return Err(Error::Setup(format!("{name}:{line}: {refusal}")));
        }
        batch.rows.into_iter().try_for_each(|(_, row)| take(row))?;
        progress.at(position.load(Ordering::Relaxed), "");
    }
    thread.join().unwrap_or_else(|_| Err(Error::Setup(format!("the thread that reads {name} panicked"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order_and_a_refused_line_ends_the_file() {
        let dir = tempfile::tempdir().expect("temp dir");
        let path = dir.path().join("f.csv");
        let read = |text: &str, asked: bool| {
            std::fs::write(&path, text).expect("writes");
            let mut seen = Vec::new();
            let done = follows(&path, &|| asked, &mut |(user, target, _)| {
                seen.push(format!("{user}-{target}"));
                Ok(())
            });
            (seen.join(" "), done.map_err(|error| error.to_string()))
        };
        assert_eq!(read("user_id,target_id\n1,2\nann,2\n", false), ("1-2 ann-2".to_owned(), Ok(())));
        let (seen, done) = read("1,2\n3\n", false);
        assert_eq!(seen, "");
        let error = done.expect_err("refused");
        assert!(error.contains("f.csv:2: missing_field: target_id is missing"), "{error}");
        assert!(read("1,2\n", true).1.expect_err("interrupted").starts_with("interrupted"));
    }
}
