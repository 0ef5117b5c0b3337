//! The thread that unpacks and parses an input into batches.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::fields::{Columns, is_header, split};
use super::format::{TELLING, shape};
use super::records::{self, Records, Shape};
use super::refusal::{INVALID_LINE, Refusal, TOO_LONG, printable};
use super::rows::Row;
use super::source::Source;
use crate::cli::terminal::interrupt::Interrupt;
use crate::cli::terminal::progress::{Progress, Unit};
use model::error::{Error, Result};
use model::threads;

/// Most rows of a batch.
const BATCH_ROWS: usize = 1000;

/// A batch is handed over once its records have this many bytes.
const BATCH_BYTES: usize = 1 << 20;

/// Most bytes of a line beside its bodies: ids and the name of a list, which calls have in their paths, and times.
const BESIDES: usize = 2 << 10;

/// Batches that may wait for the writer.
const BATCHES: usize = 4;

/// Rows of an input, and refused lines between them, each with its line number.
#[derive(Debug)]
pub(super) struct Batch<T> {
    /// In the order of the input.
    pub(super) rows: Vec<(u64, T)>,
    /// Lines and reasons, in the order of the input.
    pub(super) refused: Vec<(u64, Refusal)>,
}

/// An input in progress.
struct Reader<T> {
    /// Closes when the input ends or fails.
    batches: Receiver<Batch<T>>,
    /// Returns whether the input failed. The thread stops at its next batch after the receiver is dropped.
    thread: JoinHandle<Result<()>>,
}

/// Gives all batches of an input to `take`, with a bar that shows the remarks it returns. Refuses a record that is longer
/// than its bodies may be, of `longest` bytes each. False if a stop is requested before the end.
pub(super) fn each_batch<T: Row>(
    source: Source,
    longest: usize,
    interrupt: &Interrupt,
    mut take: impl FnMut(Batch<T>, &Progress) -> Result<String>,
) -> Result<bool> {
    let (name, position) = (source.name.clone(), Arc::clone(&source.read));
    let progress = Progress::new(format!("{} {name}", T::TABLE), source.length, Unit::Bytes);
    let Reader::<T> { batches, thread } = read(source, longest)?;
    loop {
        let batch = select! {
            recv(batches) -> batch => batch,
            recv(interrupt.asked()) -> _ => return Ok(false),
        };
        let Ok(batch) = batch else { break };
        let remark = take(batch, &progress)?;
        progress.at(position.load(Ordering::Relaxed), remark);
    }
    let ended = thread.join();
    ended.unwrap_or_else(|_| Err(Error::Setup(format!("the thread that reads {name} panicked"))))?;
    Ok(true)
}

/// Reads an input on its own thread.
fn read<T: Row>(source: Source, longest: usize) -> Result<Reader<T>> {
    let (sender, batches) = bounded(BATCHES);
    let thread = threads::start("import-reader", move || {
        let name = source.name.clone();
        let longest = longest.saturating_mul(T::BODIES).saturating_add(BESIDES);
        let mut filling = Filling { sender, batch: Batch::EMPTY, bytes: 0, longest };
        source.unpack().map_err(|e| unreadable(&name, 1, &e)).and_then(|input| run(&name, input, &mut filling))
    })?;
    Ok(Reader { batches, thread })
}

/// CSV, with its columns once the first record is read, or NDJSON.
enum Format {
    Json,
    Csv(Option<Columns>),
}

fn run<T: Row>(name: &str, input: impl Read, filling: &mut Filling<T>) -> Result<()> {
    let mut records = Records::new(input);
    let mut line = 1;
    let beginning = records.beginning(TELLING).map_err(|e| unreadable(name, line, &e))?;
    let shape = shape(beginning).map_err(|reason| Error::Setup(format!("{name}: {reason}")))?;
    let mut format = if shape == Shape::Lines { Format::Json } else { Format::Csv(None) };
    loop {
        let record = match records.next(shape) {
            Ok(Some(record)) => record,
            Ok(None) => {
                filling.hand_over();
                return Ok(());
            }
            Err(e) => {
                filling.hand_over();
                return Err(unreadable(name, line, &e));
            }
        };
        line = record.line;
        let (length, row) = match record.found {
            Err(reason) => {
                let kind = match reason {
                    records::TOO_LONG | records::TOO_LONG_QUOTED => TOO_LONG,
                    _ => INVALID_LINE,
                };
                (0, Err(Refusal::of_line(kind, reason).showing(records.bytes(record.shown))))
            }
            Ok(range) => {
                let bytes = records.bytes(range);
                if bytes.trim_ascii().is_empty() {
                    continue;
                }
                let row = match std::str::from_utf8(bytes) {
                    Err(_) => Err(Refusal::of_line(INVALID_LINE, "not valid UTF-8")),
                    Ok(text) => match parse(text, &mut format) {
                        Ok(Some(row)) => row,
                        Ok(None) => continue,
                        Err(reason) => return Err(Error::Setup(format!("{name}:{line}: {}", printable(&reason)))),
                    },
                };
                (bytes.len(), row.map_err(|refusal| refusal.showing(bytes)))
            }
        };
        if !filling.add(line, row, length) {
            return Ok(());
        }
    }
}

/// The row of a record; `None` for a header. Fails if a header is wrong.
fn parse<T: Row>(text: &str, format: &mut Format) -> Result<Option<Result<T, Refusal>>, String> {
    Ok(Some(match format {
        Format::Json => T::from_json(text),
        Format::Csv(Some(columns)) => T::from_fields(columns, &split(text)),
        Format::Csv(unknown) => {
            let fields = split(text);
            if is_header(T::COLUMNS, &fields) {
                *unknown = Some(Columns::of_header(T::COLUMNS, &fields)?);
                return Ok(None);
            }
            T::from_fields(unknown.insert(Columns::in_order(T::COLUMNS)), &fields)
        }
    }))
}

/// A batch while it is filled.
struct Filling<T> {
    sender: Sender<Batch<T>>,
    batch: Batch<T>,
    bytes: usize,
    longest: usize,
}

impl<T> Batch<T> {
    const EMPTY: Self = Self { rows: Vec::new(), refused: Vec::new() };
}

impl<T> Filling<T> {
    /// Adds a line; false if the receiver is gone.
    fn add(&mut self, line: u64, row: Result<T, Refusal>, bytes: usize) -> bool {
        match row {
            Ok(_) if bytes > self.longest => {
                let reason = format!("the line is longer than {} bytes (server.body_limit)", self.longest);
                self.batch.refused.push((line, Refusal::of_line(TOO_LONG, reason)));
            }
            Ok(row) => self.batch.rows.push((line, row)),
            Err(reason) => self.batch.refused.push((line, reason)),
        }
        self.bytes += bytes;
        let full = self.batch.rows.len().max(self.batch.refused.len()) >= BATCH_ROWS || self.bytes >= BATCH_BYTES;
        !full || self.hand_over()
    }

    fn hand_over(&mut self) -> bool {
        if self.batch.rows.is_empty() && self.batch.refused.is_empty() {
            return true;
        }
        self.bytes = 0;
        self.sender.send(std::mem::replace(&mut self.batch, Batch::EMPTY)).is_ok()
    }
}

fn unreadable(name: &str, line: u64, error: &io::Error) -> Error {
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed data is truncated; get a complete file".to_owned(),
        _ => format!("cannot read further: {error}"),
    };
    Error::Setup(format!("{name}: after line {line}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use feed::Follow;

    /// The result of a text: accepted lines, refused lines, the final error.
    fn read_all(text: &[u8]) -> (Vec<u64>, Vec<(u64, String)>, Option<String>) {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut filling = Filling::<Follow> { sender, batch: Batch::EMPTY, bytes: 0, longest: usize::MAX };
        let result = run("f", text, &mut filling);
        drop(filling);
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        for batch in receiver {
            taken.extend(batch.rows.iter().map(|(line, _)| *line));
            refused.extend(batch.refused.into_iter().map(|(line, refusal)| (line, refusal.to_string())));
        }
        (taken, refused, result.err().map(|e| e.to_string()))
    }

    #[test]
    fn lines_are_numbered_over_headers_blanks_and_bad_bytes() {
        let text = b"\n target_id,user_id\r\n".map(|b| if b == b' ' { b'\n' } else { b });
        let text = [&text[..], b"2,1\r\n\r\n,1\r\n\xFF,1\r\n3,\"1\n\"\r\n4,1"].concat();
        let (taken, refused, error) = read_all(&text);
        assert_eq!((taken, error), (vec![4, 10], None));
        let lines: Vec<_> = refused.iter().map(|(line, reason)| (*line, reason.as_str())).collect();
        assert_eq!(lines[0], (6, "missing_field: target_id is missing: \",1\""));
        assert_eq!(lines[1], (7, "invalid_line: not valid UTF-8: \"\u{FFFD},1\""));
        assert_eq!(lines[2].0, 8);
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn json_is_known_by_its_first_byte() {
        let (taken, refused, error) = read_all(b" \n {\"user_id\":1,\"target_id\":2}\n\n1,2\n{}\n");
        assert_eq!((taken, error), (vec![2], None));
        assert_eq!(refused.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn a_wrong_header_ends_the_file() {
        let (taken, refused, error) = read_all(b"\nuser_id,\"tar\x1bget\"\n1,2\n");
        assert_eq!((taken.len(), refused.len()), (0, 0));
        let error = error.expect("refused");
        assert!(error.starts_with("f:2: unknown column \"tar\\u{1b}get\""), "{error}");
    }

    #[test]
    fn a_header_comes_first_or_not_at_all() {
        let (taken, refused, error) = read_all(b"1,2\nuser_id,target_id\n3,4\n");
        assert_eq!((taken, refused, error), (vec![1, 2, 3], Vec::new(), None));
    }

    #[test]
    fn batches_are_bounded_in_rows_and_bytes() {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut filling = Filling::<u8> { sender, batch: Batch::EMPTY, bytes: 0, longest: usize::MAX };
        for line in 0..2500 {
            filling.add(line, Ok(0), 10);
        }
        filling.add(2500, Ok(0), BATCH_BYTES);
        filling.hand_over();
        drop(filling);
        assert_eq!(receiver.iter().map(|batch| batch.rows.len()).collect::<Vec<_>>(), [1000, 1000, 501]);
    }
}
