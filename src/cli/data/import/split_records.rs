//! Splits a stream of bytes into records, each with the number of its first line.
//!
//! A record is a line, or in CSV as many lines as its quoted fields span. Memory is bounded: no more than some times
//! [`MAX_RECORD`] is ever held.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};

/// Longest accepted record, in bytes without the line end: an item of four bodies of the largest size, and some more.
pub(in crate::cli::data) const MAX_RECORD: usize = (4 << 20) + (2 << 10);
/// With the line end.
const MAX_LINE: usize = MAX_RECORD + "\r\n".len();

const BUFFER: usize = 256 << 10;

/// The end of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::data) enum Shape {
    /// Every line feed.
    Lines,
    /// A line feed outside quotes.
    Csv,
}

/// One record.
#[derive(Debug)]
pub(in crate::cli::data) struct Record {
    /// The number of its first line, from 1.
    pub(in crate::cli::data) line: u64,
    /// The bytes without the line end; none of one that is too long.
    pub(in crate::cli::data) bytes: Vec<u8>,
    /// Why it is refused, if it is.
    pub(in crate::cli::data) refused: Option<&'static str>,
}

pub(in crate::cli::data) const TOO_LONG: &str = "the line is longer than 4 MiB";
pub(in crate::cli::data) const TOO_LONG_QUOTED: &str =
    "the line is longer than 4 MiB; perhaps a quoted field is not closed";
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
    /// Behind an invalid quote.
    Broken,
}

impl State {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Quoted, b'"') => Self::Closing,
            (Self::Quoted, _) => Self::Quoted,
            (_, b'\n') => Self::End,
            (Self::Line, _) => Self::Line,
            (Self::Broken, _) => Self::Broken,
            (Self::Field, b'"') | (Self::Closing, b'"') => Self::Quoted,
            (Self::Field | Self::Plain | Self::Closing, b',') => Self::Field,
            (Self::Field | Self::Plain, _) => Self::Plain,
            (Self::Closing, b'\r') => Self::Return,
            _ => Self::Broken,
        }
    }
}

/// The records of a stream.
pub(in crate::cli::data) struct Records<R> {
    input: BufReader<R>,
    /// Lines to be read again.
    again: VecDeque<Vec<u8>>,
    /// The number of the next line.
    line: u64,
    /// Lines before this one were once read inside quotes that proved wrong. A quote left open at the end of such a line is
    /// refused at once. Otherwise every one of them would be read up to the same place as the one before.
    doubted_before: u64,
}

impl<R: Read> Records<R> {
    pub(in crate::cli::data) fn new(input: R) -> Self {
        Self { input: BufReader::with_capacity(BUFFER, input), again: VecDeque::new(), line: 1, doubted_before: 0 }
    }

    /// The next record, blank lines included; `None` at the end. A record truncated by an error is not returned.
    pub(in crate::cli::data) fn next(&mut self, shape: Shape) -> io::Result<Option<Record>> {
        let line = self.line;
        let mut state = if shape == Shape::Csv { State::Field } else { State::Line };
        let (mut bytes, mut refused, mut is_broken) = (Vec::new(), None, false);
        while state != State::End {
            let (is_doubted, piece) = (self.line < self.doubted_before, self.piece()?);
            if piece.is_empty() {
                if bytes.is_empty() && refused.is_none() {
                    return Ok(None);
                }
                if state == State::Quoted && refused.is_none() {
                    self.doubted_before = u64::MAX;
                    return Ok(Some(self.first_line(line, &bytes, NEVER_CLOSED)));
                }
                break;
            }
            for byte in &piece {
                state = state.after(*byte);
                is_broken |= state == State::Broken;
            }
            self.line += u64::from(piece.ends_with(b"\n"));
            if refused.is_some() {
                continue;
            }
            if bytes.is_empty() {
                bytes = piece;
            } else {
                bytes.extend(piece);
            }
            if bytes.len() > MAX_LINE {
                let is_quoted = matches!(state, State::Quoted | State::Closing);
                (bytes, refused) = (Vec::new(), Some(if is_quoted { TOO_LONG_QUOTED } else { TOO_LONG }));
            } else if state == State::Quoted && is_doubted {
                return Ok(Some(self.first_line(line, &bytes, NEVER_CLOSED)));
            }
        }
        if is_broken && refused.is_none() {
            // Quotes count again in the line that has the wrong one.
            let last = self.line - u64::from(bytes.ends_with(b"\n"));
            self.doubted_before = self.doubted_before.max(last);
            return Ok(Some(self.first_line(line, &bytes, BAD_QUOTE)));
        }
        for end in [b'\n', b'\r'] {
            bytes.pop_if(|byte| *byte == end);
        }
        if bytes.len() > MAX_RECORD {
            (bytes, refused) = (Vec::new(), Some(TOO_LONG));
        }
        Ok(Some(Record { line, bytes, refused }))
    }

    /// Refuses the first line of a record whose quotes are wrong. The next line starts a record.
    fn first_line(&mut self, line: u64, bytes: &[u8], why: &'static str) -> Record {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default().trim_ascii_end().to_vec();
        for line in lines.rev() {
            self.line -= u64::from(line.ends_with(b"\n"));
            self.again.push_front(line.to_vec());
        }
        Record { line, bytes: first, refused: Some(why) }
    }

    /// A line with its end, or a part of one that is longer than a record may be; nothing at the end.
    fn piece(&mut self) -> io::Result<Vec<u8>> {
        if let Some(piece) = self.again.pop_front() {
            return Ok(piece);
        }
        let mut bytes = Vec::new();
        self.input.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

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
            let text = String::from_utf8_lossy(&record.bytes).into_owned();
            found.push((record.line, record.refused.map_or(Ok(text), Err)));
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
                assert!(record.bytes.capacity() <= 4 * MAX_RECORD, "{}", record.bytes.capacity());
                found.push((record.line, record.refused.map_or(Ok(record.bytes.len()), Err)));
            }
            let want =
                [(1, Ok(1)), (2, Ok(MAX_RECORD)), (3, Err(TOO_LONG)), (4, Ok(1)), (5, Err(TOO_LONG)), (6, Ok(1))];
            assert_eq!(found, want);
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
