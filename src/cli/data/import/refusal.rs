//! Refused lines: reasons, messages and counts.

use std::collections::BTreeMap;

use super::split_records::Shape;
use crate::cli::plain;
use crate::cli::terminal::units::lines;
use crate::prelude::*;

/// A required field is missing.
pub(in crate::cli::data) const MISSING_FIELD: &str = "missing_field";
/// A field is not a valid id.
pub(in crate::cli::data) const INVALID_ID: &str = "invalid_id";
/// A field is not a valid time.
pub(in crate::cli::data) const INVALID_TIME: &str = "invalid_time";
/// Another field has an invalid value.
pub(in crate::cli::data) const INVALID_FIELD: &str = "invalid_field";
/// The line is not a record.
pub(in crate::cli::data) const INVALID_LINE: &str = "invalid_line";
/// The line is too long.
pub(in crate::cli::data) const TOO_LONG: &str = "too_long";

/// This many refused lines are printed; the others are only counted.
pub(in crate::cli::data) const MOST_NAMED: u64 = 1000;
/// Most characters of a line that are shown.
const MOST_SHOWN: usize = 60;
/// Most characters of a reason.
const LONGEST_REASON: usize = 400;

/// The reason of a refusal: the kind of fault, under which lines are counted, and a sentence that shows the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// One of the words above, or a code of the API.
    kind: &'static str,
    detail: String,
    /// Whether the detail shows the input; if not, the line is shown.
    shows: bool,
    /// The column in a line of JSON, of a line that is shown.
    column: Option<usize>,
}

impl Refusal {
    /// Of a field, with its value.
    pub(in crate::cli::data) fn of_field(
        kind: &'static str,
        name: &str,
        reason: impl fmt::Display,
        value: &str,
    ) -> Self {
        Self { kind, detail: format!("{name}: {reason}, not {}", shown(value)), shows: true, column: None }
    }

    /// Of a line, whose beginning is to be shown.
    pub(in crate::cli::data) fn of_line(kind: &'static str, detail: impl fmt::Display) -> Self {
        Self { kind, detail: detail.to_string(), shows: false, column: None }
    }

    /// A refusal of a part of the line, by the name of its field.
    pub(in crate::cli::data) fn within(self, name: &str) -> Self {
        Self { kind: INVALID_FIELD, detail: format!("{name}: {}", self.detail), ..self }
    }

    /// Adds advice.
    pub(in crate::cli::data) fn with_hint(mut self, hint: &str) -> Self {
        self.detail = format!("{}; {hint}", self.detail);
        self
    }

    /// With the column at which a parser of JSON has found it.
    pub(in crate::cli::data) fn at(self, column: usize) -> Self {
        Self { column: Some(column), ..self }
    }

    /// Adds the beginning of the line, or of JSON the part around the column, unless the detail shows a value already.
    pub(in crate::cli::data) fn showing(mut self, line: &[u8], shape: Shape) -> Self {
        if self.shows || line.is_empty() {
            return self;
        }
        let mut begin = 0;
        if let Some(column) = self.column.filter(|_| shape == Shape::Lines) {
            self.detail = format!("{} at column {column}", self.detail);
            let is_inside = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
            begin = column.saturating_sub(MOST_SHOWN / 2).min(line.len());
            begin -= line[..=begin.min(line.len() - 1)].iter().rev().take_while(|byte| is_inside(byte)).count();
        }
        // A character has at most four bytes, and an incomplete one is replaced.
        let part = &line[begin..line.len().min(begin + 4 * (MOST_SHOWN + 1))];
        let before = if begin > 0 { "…" } else { "" };
        self.detail = format!("{}: {before}{}", self.detail, shown(&String::from_utf8_lossy(part)));
        self.shows = true;
        self
    }

    /// Separates a refused row from a store that accepts no changes, which is an error.
    pub(in crate::cli::data) fn of_error(error: Error) -> Result<Self, Error> {
        match error {
            Error::Refused { code, detail } if !code.is_passing() => {
                Ok(Self { kind: code.name(), detail, shows: true, column: None })
            }
            error => Err(error),
        }
    }
}

impl fmt::Display for Refusal {
    /// In one line, safe for a terminal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, printable(&self.detail))
    }
}

/// A part of a file in quotes: its beginning, with escapes for all but plain text.
pub(in crate::cli::data) fn shown(text: &str) -> String {
    let (begin, ellipsis) = cut(text, MOST_SHOWN);
    format!("{begin:?}{ellipsis}")
}

/// A text that may quote the input, without characters that move the cursor of a terminal.
pub(in crate::cli::data) fn printable(text: &str) -> String {
    let (begin, ellipsis) = cut(text, LONGEST_REASON);
    plain(begin) + ellipsis
}

/// So many characters of a text, and the sign that there are more if there are.
fn cut(text: &str, most: usize) -> (&str, &'static str) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (&text[..end], "…"),
        None => (text, ""),
    }
}

/// The refused lines of a run, by the kind of fault.
#[derive(Debug, Default)]
pub(in crate::cli::data) struct Refused(BTreeMap<&'static str, u64>);

impl Refused {
    pub(in crate::cli::data) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Counts lines of a file, and prints those that are among the first of the run to stderr.
    pub(in crate::cli::data) fn add(&mut self, file: &str, mut lines: Vec<(u64, Refusal)>, progress: &Progress) {
        if lines.is_empty() {
            return;
        }
        lines.sort_by_key(|(line, _)| *line);
        let room = MOST_NAMED.saturating_sub(self.total()) as usize;
        if room > 0 {
            progress.write(|out| {
                let mut named = lines.iter().take(room);
                named.try_for_each(|(line, refusal)| writeln!(out, "{file}:{line}: {refusal}"))?;
                if lines.len() > room {
                    writeln!(out, "{MOST_NAMED} refused lines are listed; further ones are only counted")?;
                }
                Ok(())
            });
        }
        for (_, refusal) in &lines {
            *self.0.entry(refusal.kind).or_default() += 1;
        }
    }
}

impl fmt::Display for Refused {
    /// The total, and the count of each kind, the most frequent first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts: Vec<_> = self.0.iter().map(|(kind, count)| (*count, *kind)).collect();
        counts.sort_by_key(|(count, kind)| (std::cmp::Reverse(*count), *kind));
        let counts: Vec<_> = counts.iter().map(|(count, kind)| format!("{count} {kind}")).collect();
        write!(f, "refused in total: {}: {}", lines(self.total()), counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_input_is_short_and_plain() {
        assert_eq!(shown("a\n\u{1b}\"é'"), "\"a\\n\\u{1b}\\\"é'\"");
        let long = shown(&"x".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with("x\"…")), (MOST_SHOWN + 3, true));
        assert_eq!(shown(&"x".repeat(MOST_SHOWN)).chars().count(), MOST_SHOWN + 2);
    }

    #[test]
    fn a_refusal_shows_a_value_or_the_line() {
        let field = Refusal::of_field(INVALID_ID, "user_id", "an id is a number", "x").showing(b"x,1", Shape::Csv);
        assert_eq!(field.to_string(), "invalid_id: user_id: an id is a number, not \"x\"");
        let line = Refusal::of_line(INVALID_LINE, "not valid UTF-8").showing(b"6,\xFF1", Shape::Csv);
        assert_eq!(line.to_string(), "invalid_line: not valid UTF-8: \"6,\u{FFFD}1\"");
        let long = Refusal::of_line(INVALID_LINE, "why").showing("é".repeat(10_000).as_bytes(), Shape::Csv).to_string();
        assert_eq!(long, format!("invalid_line: why: \"{}\"…", "é".repeat(MOST_SHOWN)));
        let line = "é".repeat(100);
        let around = Refusal::of_line(INVALID_LINE, "why").at(101).showing(line.as_bytes(), Shape::Lines).to_string();
        assert_eq!(around, format!("invalid_line: why at column 101: …\"{}\"…", "é".repeat(MOST_SHOWN)));
    }

    #[test]
    fn reasons_stay_on_one_short_line() {
        assert_eq!(printable("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(printable(&"x".repeat(1000)).chars().count(), LONGEST_REASON + 1);
    }
}
