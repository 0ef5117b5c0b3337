//! Progress of a long command, on stderr: a bar on a terminal, a line every few seconds elsewhere.

use std::cell::Cell;
use std::io::IsTerminal;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::prelude::*;

/// Interval of lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// The unit of the position.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    Bytes,
    /// Objects of this name.
    Count(&'static str),
}

/// One phase of a command. Its bar disappears on drop.
#[derive(Debug)]
pub(crate) struct Progress {
    label: String,
    unit: Unit,
    total: Option<u64>,
    bar: ProgressBar,
    last_line: Cell<Instant>,
}

impl Progress {
    /// A phase of `total` units, or of an unknown number.
    pub(crate) fn new(label: impl Into<String>, total: Option<u64>, unit: Unit) -> Self {
        let label = label.into();
        let target =
            if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let place = match (unit, total) {
            (Unit::Bytes, Some(_)) => "[{bar:30}] {bytes}/{total_bytes}, {eta} left",
            (Unit::Bytes, None) => "{spinner} {bytes}",
            (Unit::Count(_), Some(_)) => "[{bar:30}] {human_pos}/{human_len}, {eta} left",
            (Unit::Count(_), None) => "{spinner} {human_pos}",
        };
        let bar = ProgressBar::with_draw_target(total, target).with_prefix(label.clone());
        if let Ok(style) = ProgressStyle::with_template(&format!("{{prefix}} {place}  {{msg}}")) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { label, unit, total, bar, last_line: Cell::new(Instant::now()) }
    }

    /// Shows the position, with a remark that is formatted only if it is shown.
    pub(crate) fn at(&self, position: u64, remark: impl Display) {
        self.bar.set_position(position);
        if !self.bar.is_hidden() {
            self.bar.set_message(remark.to_string());
        } else if self.last_line.get().elapsed() >= LINE_EVERY {
            self.last_line.set(Instant::now());
            say(format_args!("{}: {}  {remark}", self.label, self.place(position)));
        }
    }

    /// The rate of `count` objects a second, from the start of this phase.
    pub(crate) fn rate(&self, count: u64) -> u64 {
        (count as f64 / self.bar.elapsed().as_secs_f64().max(0.001)) as u64
    }

    /// Writes to stderr while the bar is hidden.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        // A failure of stderr cannot be reported.
        let _ = self.bar.suspend(|| {
            let mut out = io::BufWriter::new(io::stderr().lock());
            write(&mut out).and_then(|()| out.flush())
        });
    }

    fn place(&self, position: u64) -> String {
        let (show, name): (fn(u64) -> String, _) = match self.unit {
            Unit::Bytes => (|value| HumanBytes(value).to_string(), ""),
            Unit::Count(name) => (|value| HumanCount(value).to_string(), name),
        };
        let of_total = self.total.map_or_else(String::new, |total| format!(" of {}", show(total)));
        format!("{}{of_total} {name}", show(position)).trim_end().to_owned()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_tell_the_place() {
        let place = |total, unit, at| Progress::new("x", total, unit).place(at);
        assert_eq!(place(Some(4096), Unit::Bytes, 1024), "1.00 KiB of 4.00 KiB");
        assert_eq!(place(Some(0), Unit::Bytes, 0), "0 B of 0 B");
        assert_eq!(place(None, Unit::Count("jobs"), 12_345), "12,345 jobs");
    }
}
