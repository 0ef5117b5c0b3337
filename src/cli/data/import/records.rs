//! Splits a stream of bytes into records, each with the number of its first line.
//!
//! A record is a line, or in CSV as many lines as its quoted fields span. Memory is bounded: no more than
//! [`MAX_RECORD`] of a record is ever held.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;

/// Longest accepted record, in bytes without the line end: an item of four bodies of the largest size, and some more.
pub(super) const MAX_RECORD: usize = (4 << 20) + (2 << 10);

const FIRST_BUFFER: usize = 256 << 10;

/// The end of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Every line feed.
    Lines,
    /// A line feed outside quotes.
    Csv,
}

/// One record: the range of its bytes, or the reason why it is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The number of its first line, from 1.
    pub(super) line: u64,
    /// The bytes without the line end, available from [`Records::bytes`] until the next call; or a reason.
    pub(super) found: Result<Range<usize>, &'static str>,
    /// The bytes that a message can show; empty if the record was too long to be held.
    pub(super) shown: Range<usize>,
}

pub(super) const TOO_LONG: &str = "the line is longer than 4 MiB";
pub(super) const TOO_LONG_QUOTED: &str = "the line is longer than 4 MiB; perhaps a quoted field is not closed";
const NEVER_CLOSED: &str = "a quoted field is not closed";
const BAD_QUOTE: &str = "a quoted field has text after its closing quote, or is not closed";

/// The position within a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Where quotes have no meaning.
    Line,
    /// At the first byte of a CSV field.
    Field,
    /// Inside a field without quotes.
    Plain,
    /// Inside quotes.
    Quoted,
    /// After a quote inside quotes: the closing one, or the first of a pair.
    Closing,
    /// After the carriage return that follows a closing quote.
    Return,
    /// Past the line feed.
    End,
    /// At an invalid byte.
    Broken,
}

impl State {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Quoted, b'"') => Self::Closing,
            (Self::Quoted, _) => Self::Quoted,
            (_, b'\n') => Self::End,
            (Self::Line, _) => Self::Line,
            (Self::Field, b'"') | (Self::Closing, b'"') => Self::Quoted,
            (Self::Field | Self::Plain | Self::Closing, b',') => Self::Field,
            (Self::Field | Self::Plain, _) => Self::Plain,
            (Self::Closing, b'\r') => Self::Return,
            _ => Self::Broken,
        }
    }
}

/// The records of a stream.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    buffer: Vec<u8>,
    /// Bytes read and not returned yet: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// The number of the line that begins at `start`.
    line: u64,
    /// This many bytes from `start` on were once read inside quotes that proved wrong. A quote left open at the end of
    /// a line among them is refused at once. Otherwise every such line would be read up to the same place as the one
    /// before.
    doubted: usize,
}

impl<R: Read> Records<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: vec![0; FIRST_BUFFER], start: 0, end: 0, line: 1, doubted: 0 }
    }

    /// The bytes from the first that is not blank on, without consuming them: `most` if there are as many, and perhaps
    /// more. Skips a byte order mark and blank lines.
    pub(super) fn beginning(&mut self, most: usize) -> io::Result<&[u8]> {
        const MARK: &[u8] = b"\xEF\xBB\xBF";
        while self.end - self.start < MARK.len() && self.fill()? {}
        if self.buffer[self.start..self.end].starts_with(MARK) {
            self.start += MARK.len();
        }
        let mut seen = 0;
        loop {
            while self.start + seen < self.end {
                let byte = self.buffer[self.start + seen];
                seen += 1;
                if byte == b'\n' {
                    self.consume(seen);
                    seen = 0;
                } else if !byte.is_ascii_whitespace() || seen > MAX_RECORD {
                    while self.end - self.start < seen + most && self.fill()? {}
                    return Ok(&self.buffer[self.start + seen - 1..self.end]);
                }
            }
            if !self.fill()? {
                return Ok(&[]);
            }
        }
    }

    /// The next record, blank lines included; `None` at the end. A record truncated by an error is not returned.
    pub(super) fn next(&mut self, shape: Shape) -> io::Result<Option<Record>> {
        let line = self.line;
        let mut state = if shape == Shape::Csv { State::Field } else { State::Line };
        let mut seen = 0;
        let mut refused = None;
        loop {
            while self.start + seen < self.end {
                state = state.after(self.buffer[self.start + seen]);
                seen += 1;
                match state {
                    State::End => return Ok(Some(self.record(line, seen, refused))),
                    State::Quoted if seen <= self.doubted && self.buffer[self.start + seen - 1] == b'\n' => {
                        return Ok(Some(self.record(line, seen, Some(NEVER_CLOSED))));
                    }
                    State::Broken => {
                        // The quotes are invalid, so only this line is refused, and the next line starts a record.
                        refused = refused.or(Some(BAD_QUOTE));
                        if let Some(length) = self.first_line(seen) {
                            self.doubted = self.doubted.max(seen);
                            return Ok(Some(self.record(line, length, refused)));
                        }
                        state = State::Line;
                    }
                    _ => {}
                }
            }
            if seen > MAX_RECORD + "\r".len() {
                let quoted = matches!(state, State::Quoted | State::Closing);
                refused = refused.or(Some(if quoted { TOO_LONG_QUOTED } else { TOO_LONG }));
                self.consume(seen);
                seen = 0;
            }
            if !self.fill()? {
                return Ok(self.last(line, seen, state, refused));
            }
        }
    }

    /// The bytes of the last record.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    fn last(&mut self, line: u64, seen: usize, state: State, refused: Option<&'static str>) -> Option<Record> {
        if seen == 0 && refused.is_none() {
            return None;
        }
        if state == State::Quoted && refused.is_none() {
            let length = self.first_line(seen).unwrap_or(seen);
            self.doubted = self.doubted.max(seen);
            return Some(self.record(line, length, Some(NEVER_CLOSED)));
        }
        Some(self.record(line, seen, refused))
    }

    /// The length of the first line among the first `seen` bytes, line feed included.
    fn first_line(&self, seen: usize) -> Option<usize> {
        self.buffer[self.start..self.start + seen].iter().position(|b| *b == b'\n').map(|at| at + 1)
    }

    fn record(&mut self, line: u64, length: usize, refused: Option<&'static str>) -> Record {
        let begin = self.start;
        self.consume(length);
        let bytes = &self.buffer[begin..self.start];
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let range = begin..begin + bytes.len();
        let found = match refused {
            Some(reason) => Err(reason),
            None if range.len() > MAX_RECORD => Err(TOO_LONG),
            None => Ok(range.clone()),
        };
        let is_whole = !matches!(found, Err(TOO_LONG | TOO_LONG_QUOTED));
        Record { line, found, shown: if is_whole { range } else { begin..begin } }
    }

    fn consume(&mut self, length: usize) {
        let bytes = &self.buffer[self.start..self.start + length];
        self.line += bytes.iter().filter(|b| **b == b'\n').count() as u64;
        self.start += length;
        self.doubted = self.doubted.saturating_sub(length);
    }

    /// Appends input to the buffer; false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.end == self.buffer.len() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    return Ok(read > 0);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a few bytes a call, so that a read ends at every position once.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let take = self.1.min(self.0.len()).min(out.len());
            out[..take].copy_from_slice(&self.0[..take]);
            self.0 = &self.0[take..];
            Ok(take)
        }
    }

    fn all(input: &[u8], shape: Shape, step: usize) -> Vec<(u64, Result<String, &'static str>)> {
        let mut records = Records::new(Drip(input, step));
        let mut found = Vec::new();
        while let Some(record) = records.next(shape).expect("reads") {
            let text = record.found.map(|range| String::from_utf8_lossy(records.bytes(range)).into_owned());
            found.push((record.line, text));
        }
        found
    }

    fn ok(line: u64, text: &str) -> (u64, Result<String, &'static str>) {
        (line, Ok(text.to_owned()))
    }

    #[test]
    fn lines_end_at_line_feeds_with_or_without_carriage_return() {
        for step in [1, 2, 3, 100] {
            let found = all(b"a\r\n\nb\"c\nd", Shape::Lines, step);
            assert_eq!(found, [ok(1, "a"), ok(2, ""), ok(3, "b\"c"), ok(4, "d")]);
        }
        assert_eq!(all(b"", Shape::Lines, 1), []);
        assert_eq!(all(b"a\n", Shape::Csv, 1), [ok(1, "a")]);
    }

    #[test]
    fn quoted_fields_span_lines_and_the_numbers_stay_right() {
        for step in [1, 2, 5, 100] {
            let found = all(b"1,\"a\r\n\"\"b\"\",\n\",x\r\n2,\"\"\r\n3,p\"q\n", Shape::Csv, step);
            assert_eq!(found, [ok(1, "1,\"a\r\n\"\"b\"\",\n\",x"), ok(4, "2,\"\""), ok(5, "3,p\"q")]);
        }
    }

    #[test]
    fn a_broken_quote_costs_its_own_line_only() {
        for step in [1, 4, 100] {
            let found = all(b"1,\"a\n2,b\n3,\"c\"\n4,d\n", Shape::Csv, step);
            assert_eq!(found, [(1, Err(BAD_QUOTE)), ok(2, "2,b"), ok(3, "3,\"c\""), ok(4, "4,d")]);
            let found = all(b"1,\"a\"x\n2,b\n", Shape::Csv, step);
            assert_eq!(found, [(1, Err(BAD_QUOTE)), ok(2, "2,b")]);
            let found = all(b"1,\"a\n2,b\n3,c", Shape::Csv, step);
            assert_eq!(found, [(1, Err(NEVER_CLOSED)), ok(2, "2,b"), ok(3, "3,c")]);
            let found = all(b"1,\"a\"\rx\n2,b", Shape::Csv, step);
            assert_eq!(found, [(1, Err(BAD_QUOTE)), ok(2, "2,b")]);
        }
    }

    #[test]
    fn lines_of_open_quotes_are_read_twice_at_most() {
        let began = std::time::Instant::now();
        let lines = MAX_RECORD / 5 - 10;
        for end in ["", "x\"y\"\n", "1,\"a\"\n"] {
            let input = format!("{}{end}", "a\",\"\n".repeat(lines));
            let found = all(input.as_bytes(), Shape::Csv, 1 << 16);
            assert!(found.len() >= lines, "{}", found.len());
            assert!(found[..lines - 1].iter().all(|(_, found)| found.is_err()), "{end}");
            assert!(began.elapsed() < std::time::Duration::from_secs(120), "{:?}", began.elapsed());
        }
        // After the doubted bytes, quotes count again.
        let found = all(b"1,\"a\n2,\"b\nc\"\n3,\"d\ne\"\n", Shape::Csv, 100);
        assert_eq!(found, [(1, Err(BAD_QUOTE)), ok(2, "2,\"b\nc\""), ok(4, "3,\"d\ne\"")]);
    }

    #[test]
    fn long_records_are_passed_over_in_bounded_memory() {
        let long = "x".repeat(MAX_RECORD);
        let input = format!("1\n{long}\r\n{long}y\n4\n{}\n6\n", long.repeat(5));
        for shape in [Shape::Lines, Shape::Csv] {
            let mut records = Records::new(input.as_bytes());
            let mut found = Vec::new();
            while let Some(record) = records.next(shape).expect("reads") {
                found.push((record.line, record.found.map(|range| range.len())));
            }
            let want =
                [(1, Ok(1)), (2, Ok(MAX_RECORD)), (3, Err(TOO_LONG)), (4, Ok(1)), (5, Err(TOO_LONG)), (6, Ok(1))];
            assert_eq!(found, want);
            assert!(records.buffer.len() <= 4 * MAX_RECORD, "{}", records.buffer.len());
        }
    }

    #[test]
    fn a_long_quoted_field_ends_where_its_quotes_do() {
        let input = format!("1,\"{}\"\n3,b\n", "line\n".repeat(MAX_RECORD));
        let lines = MAX_RECORD as u64 + 1;
        assert_eq!(all(input.as_bytes(), Shape::Csv, 4096), [(1, Err(TOO_LONG_QUOTED)), ok(lines + 1, "3,b")]);
        let open = format!("1,\"{}", "y".repeat(2 * MAX_RECORD));
        assert_eq!(all(open.as_bytes(), Shape::Csv, 4096), [(1, Err(TOO_LONG_QUOTED))]);
    }

    #[test]
    fn the_beginning_lies_behind_marks_and_blank_lines() {
        let mut records = Records::new(Drip(b"\xEF\xBB\xBF\n \r\n\t{}\n", 1));
        assert_eq!(records.beginning(9).expect("reads"), b"{}\n");
        let record = records.next(Shape::Lines).expect("reads").expect("a record");
        assert_eq!(record.line, 3);
        for empty in [&b"\n \n"[..], b""] {
            assert_eq!(Records::new(Drip(empty, 1)).beginning(9).expect("reads"), b"");
        }
    }

    #[test]
    fn a_record_cut_short_by_an_error_is_not_handed_out() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(ErrorKind::UnexpectedEof.into())
            }
        }
        let mut records = Records::new((&b"1,2\n3,4"[..]).chain(Fails));
        assert!(records.next(Shape::Csv).expect("the whole one").is_some());
        assert!(records.next(Shape::Csv).is_err());
    }
}
