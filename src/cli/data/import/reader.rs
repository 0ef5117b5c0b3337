//! The thread that unpacks and parses an input into batches.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crossbeam_channel::{Sender, bounded, select};

use super::csv::object_of;
use super::fields::{Columns, split};
use super::format::{TELLING, shape};
use super::records::{self, Records, Shape};
use super::refusal::{INVALID_LINE, Refusal, TOO_LONG, printable};
use super::source::Source;
use crate::cli::data::tables::Table;
use crate::cli::terminal::interrupt::Interrupt;
use crate::cli::terminal::progress::{Progress, Unit};
use model::error::{Error, Result};
use model::threads;

/// Most lines of a batch.
const BATCH_ROWS: usize = 1000;

/// A batch is handed over once its records have this many bytes.
const BATCH_BYTES: usize = 1 << 20;

/// Most bytes of a line beside its bodies: ids and the name of a list, which calls have in their paths, and times.
const BESIDES: usize = 2 << 10;

/// Batches that may wait for the writer.
const BATCHES: usize = 4;

/// Lines of an input in their order: each with its number, and its row or why it is refused.
pub(super) type Batch<T> = Vec<(u64, Result<T, Refusal>)>;

/// Gives all batches of an input to `take`, with a bar that shows the remarks it returns. `parse` reads a JSON object; a
/// record of CSV is read as the object that says the same. Refuses a record that is longer than its bodies may be, of
/// `longest` bytes each. False if a stop is requested before the end.
pub(super) fn each_batch<T: Send + 'static>(
    table: Table,
    source: Source,
    longest: usize,
    parse: impl Fn(&str) -> Result<T, Refusal> + Send + 'static,
    interrupt: &Interrupt,
    mut take: impl FnMut(Batch<T>, &Progress) -> Result<String>,
) -> Result<bool> {
    let (name, position) = (source.name.clone(), Arc::clone(&source.read));
    let progress = Progress::new(format!("{} {name}", table.name()), source.length, Unit::Bytes);
    // Of an item the publish, and the text, the media and the extra object of later edits.
    let bodies = if table == Table::Content { 4 } else { 1 };
    let longest = longest.saturating_mul(bodies).saturating_add(BESIDES);
    let (sender, batches) = bounded(BATCHES);
    let input = name.clone();
    // Stops at its next batch after the receiver is dropped.
    let thread = threads::start("import-reader", move || {
        let mut filling = Filling { sender, batch: Vec::new(), bytes: 0, longest };
        let unpacked = source.unpack().map_err(|e| unreadable(&input, 1, &e));
        unpacked.and_then(|bytes| run(&input, table.columns(), bytes, &parse, &mut filling))
    })?;
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

/// Reads an input to its end, or until nobody wants more.
fn run<T>(
    name: &str,
    declared: &'static str,
    input: impl Read,
    parse: &impl Fn(&str) -> Result<T, Refusal>,
    filling: &mut Filling<T>,
) -> Result<()> {
    let mut records = Records::new(input);
    let mut line = 1;
    let beginning = records.beginning(TELLING).map_err(|e| unreadable(name, line, &e))?;
    let shape = shape(&beginning).map_err(|reason| Error::Setup(format!("{name}: {reason}")))?;
    let (mut columns, mut is_first) = (Columns::declared(declared), true);
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
        let bytes = &record.bytes;
        let row = match (record.refused, std::str::from_utf8(bytes), shape) {
            (Some(why @ (records::TOO_LONG | records::TOO_LONG_QUOTED)), ..) => Err(Refusal::of_line(TOO_LONG, why)),
            (Some(why), ..) => Err(Refusal::of_line(INVALID_LINE, why)),
            _ if bytes.trim_ascii().is_empty() => continue,
            (None, Err(_), _) => Err(Refusal::of_line(INVALID_LINE, "not valid UTF-8")),
            (None, Ok(text), Shape::Lines) => parse(text),
            (None, Ok(text), Shape::Csv) => {
                let fields = split(text);
                if std::mem::take(&mut is_first) && columns.is_header(&fields) {
                    let wrong = |why: String| Error::Setup(format!("{name}:{line}: {}", printable(&why)));
                    columns.take_header(&fields).map_err(wrong)?;
                    continue;
                }
                object_of(&columns, &fields).and_then(|object| parse(&object))
            }
        };
        let row = row.map_err(|refusal| refusal.showing(bytes, shape));
        if !filling.add(line, row, bytes.len()) {
            return Ok(());
        }
    }
}

/// A batch while it is filled.
struct Filling<T> {
    sender: Sender<Batch<T>>,
    batch: Batch<T>,
    bytes: usize,
    longest: usize,
}

impl<T> Filling<T> {
    /// Adds a line; false if the receiver is gone.
    fn add(&mut self, line: u64, row: Result<T, Refusal>, bytes: usize) -> bool {
        let row = match row {
            Ok(_) if bytes > self.longest => {
                let reason = format!("the line is longer than {} bytes (server.body_limit)", self.longest);
                Err(Refusal::of_line(TOO_LONG, reason))
            }
            row => row,
        };
        self.batch.push((line, row));
        self.bytes += bytes;
        let is_full = self.batch.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES;
        !is_full || self.hand_over()
    }

    fn hand_over(&mut self) -> bool {
        if self.batch.is_empty() {
            return true;
        }
        self.bytes = 0;
        self.sender.send(std::mem::take(&mut self.batch)).is_ok()
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
    use crate::cli::data::import::lines::Following;
    use crate::cli::data::import::rows::object;
    use feed::Follow;

    /// The result of a text: accepted lines, refused lines, the final error.
    fn read_all(text: &[u8]) -> (Vec<u64>, Vec<(u64, String)>, Option<String>) {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut filling = Filling::<Follow> { sender, batch: Vec::new(), bytes: 0, longest: usize::MAX };
        let parse = |text: &str| object(text).and_then(Following::row);
        let result = run("f", Table::Follows.columns(), text, &parse, &mut filling);
        drop(filling);
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        for (line, row) in receiver.into_iter().flatten() {
            match row {
                Ok(_) => taken.push(line),
                Err(refusal) => refused.push((line, refusal.to_string())),
            }
        }
        (taken, refused, result.err().map(|e| e.to_string()))
    }

    #[test]
    fn a_header_comes_first_or_not_at_all() {
        let (taken, refused, error) = read_all(b"1,2\nuser_id,target_id\n3,4\n");
        assert_eq!((taken, refused, error), (vec![1, 2, 3], Vec::new(), None));
    }

    #[test]
    fn batches_are_bounded_in_rows_and_bytes() {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut filling = Filling::<u8> { sender, batch: Vec::new(), bytes: 0, longest: usize::MAX };
        for line in 0..2500 {
            filling.add(line, Ok(0), 10);
        }
        filling.add(2500, Ok(0), BATCH_BYTES);
        filling.hand_over();
        drop(filling);
        assert_eq!(receiver.iter().map(|batch| batch.len()).collect::<Vec<_>>(), [1000, 1000, 501]);
    }
}
