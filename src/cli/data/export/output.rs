//! The file of a table while it is written.

use std::io::Write as _;

use crate::cli::data::import::source::shown;
use crate::cli::terminal::part_file::{Packed, Part, ending, unwritten};
use crate::cli::terminal::units;
use crate::prelude::*;

/// The interval of looks at the clock and at requests to stop, lines.
const LOOK_EVERY: u64 = 1000;
/// Endings of files that are packed in other ways.
const OTHERS: [&str; 7] = ["bz2", "xz", "zip", "lz4", "br", "zstd", "tar"];

/// Lines on their way to a file, or to the standard output.
pub(in crate::cli::data) struct Output<'a> {
    done: Done,
    packed: Packed,
    line: Vec<u8>,
    progress: Progress,
    interrupt: &'a Interrupt,
    /// An import refuses a time after this one.
    latest: Millis,
}

/// The result of a table.
#[derive(Debug)]
pub(in crate::cli::data) struct Done {
    pub(in crate::cli::data) table: &'static str,
    pub(in crate::cli::data) name: String,
    path: PathBuf,
    pub(in crate::cli::data) lines: u64,
    /// Lines that an import refuses, because their times are too far ahead of the clock.
    ahead: u64,
    /// Why rows are left out, each with their number.
    left_out: Vec<(u64, String)>,
}

impl<'a> Output<'a> {
    /// Refuses a file that exists, and a name that says another format, before any work.
    pub(in crate::cli::data) fn must_be_free(path: &Path) -> Result<()> {
        if path == Path::new("-") {
            return Ok(());
        }
        if let Some(other) = ending(path).filter(|end| OTHERS.contains(&end.as_str())) {
            return Err(Error::Setup(format!(
                "{}: an export is not packed as .{other}; use .gz or .zst",
                path.display()
            )));
        }
        let is_packed = ending(path).is_some_and(|end| end == "gz" || end == "zst");
        let bare = if is_packed { path.with_extension("") } else { path.to_owned() };
        if ending(&bare).as_deref() == Some("csv") {
            return Err(Error::Setup(format!(
                "{}: an export is NDJSON, because CSV has no place for rules, paths and media; choose a name that ends \
                 in .ndjson, .ndjson.gz or .ndjson.zst",
                path.display()
            )));
        }
        Part::must_be_free(path)
    }

    /// Begins the file of a table with about this many rows.
    pub(in crate::cli::data) fn begin(
        path: &Path,
        table: &'static str,
        about: Option<u64>,
        interrupt: &'a Interrupt,
        latest: Millis,
    ) -> Result<Self> {
        let name = shown(path);
        let progress = Progress::new(format!("{table} {name}"), about, Unit::Count("rows"));
        let done = Done { table, name, path: path.to_owned(), lines: 0, ahead: 0, left_out: Vec::new() };
        Ok(Self { done, packed: Packed::begin(path)?, line: Vec::new(), progress, interrupt, latest })
    }

    /// Writes a line, with its time if it has one. Fails if a stop is requested.
    pub(in crate::cli::data) fn line(&mut self, time: Option<Millis>, line: &impl Serialize) -> Result<()> {
        self.line.clear();
        let failed = |e: serde_json::Error| Error::Corrupt(format!("cannot write a line of {}: {e}", self.done.table));
        serde_json::to_writer(&mut self.line, line).map_err(failed)?;
        self.line.push(b'\n');
        self.packed.write_all(&self.line).map_err(|e| unwritten(&self.done.path, &e))?;
        self.done.lines += 1;
        self.done.ahead += u64::from(time.is_some_and(|time| time > self.latest));
        if self.done.lines.is_multiple_of(LOOK_EVERY) {
            if self.interrupt.was_asked() {
                return Err(Error::Setup("interrupted; no file was written".to_owned()));
            }
            let rate = self.progress.rate(self.done.lines);
            self.progress.at(self.done.lines, format_args!("{rate} lines/s"));
        }
        Ok(())
    }

    /// Notes that so many rows are left out.
    pub(in crate::cli::data) fn leaves_out(&mut self, count: u64, why: impl Display) {
        self.done.left_out.push((count, why.to_string()));
    }

    /// Writes out what is still in memory. The file, if it is not the standard output, has no name yet.
    pub(in crate::cli::data) fn end(self) -> Result<(Done, Option<Part>)> {
        let Self { done, packed, .. } = self;
        let part = packed.end().map_err(|e| unwritten(&done.path, &e))?;
        Ok((done, part))
    }
}

impl Done {
    /// Warnings of rows that an import of the file does not bring.
    pub(in crate::cli::data) fn warnings(&self) -> impl Iterator<Item = String> {
        let Self { table, name, ahead, left_out, .. } = self;
        let ahead = (*ahead > 0).then(|| {
            format!(
                "{table} {name}: {} with a time more than content.max_ahead after the clock, which an import refuses as \
                 time_ahead until then",
                units::lines(*ahead)
            )
        });
        ahead.into_iter().chain(left_out.iter().map(move |(count, why)| format!("{table} {name}: {count} {why}")))
    }
}
