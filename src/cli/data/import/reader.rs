//! The thread that unpacks and parses an input into batches.

use std::io::{self, Cursor, Read};
use std::sync::atomic::Ordering;

use crossbeam_channel::{Sender, bounded, select};

use super::csv::object_of;
use super::fields::{Columns, split};
use super::format::{TELLING, shape};
use super::refusal::{INVALID_LINE, Refusal, TOO_LONG, printable};
use super::source::Source;
use super::split_records::{self, Records, Shape};
use crate::cli::data::lines::Table;
use crate::prelude::*;
use feed::Command;

/// Most lines of a batch.
const BATCH_ROWS: usize = 1000;

/// A batch is handed over once its records have this many bytes.
const BATCH_BYTES: usize = 1 << 20;

/// Most bytes of a line beside its bodies: ids and the name of a list, which calls have in their paths, and times.
const BESIDES: usize = 2 << 10;

/// Most blank bytes before the first line.
const MOST_BLANK: usize = 1 << 20;

/// The byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Batches that may wait for the writer.
const BATCHES: usize = 4;

/// Lines of an input in their order: each with its number, and the change that it is or why it is refused.
pub(super) type Batch = Vec<(u64, Result<Command, Refusal>)>;

/// Gives all batches of an input to `take`, with a bar that shows the remarks it returns. A record of CSV is read as the
/// object of JSON that says the same. Refuses a record that is longer than its bodies may be, of
/// `longest` bytes each. False if a stop is requested before the end.
pub(super) fn each_batch(
    table: Table,
    source: Source,
    longest: usize,
    interrupt: &Interrupt,
    mut take: impl FnMut(Batch, &Progress) -> Result<String>,
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
        unpacked.and_then(|bytes| run(&input, table, bytes, &mut filling))
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

/// Gives each line of a file to `take`, as the change that it is. Refuses a file with a line that an import would refuse.
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

/// Reads an input to its end, or until nobody wants more.
fn run(name: &str, table: Table, input: impl Read, filling: &mut Filling) -> Result<()> {
    let mut line = 1;
    let (beginning, input) = beginning(input).map_err(|e| unreadable(name, line, &e))?;
    let shape = shape(&beginning).map_err(|reason| Error::Setup(format!("{name}: {reason}")))?;
    let mut records = Records::new(input);
    let (mut columns, mut is_first) = (Columns::declared(table.declared().columns), true);
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
        let change = match (record.refused, std::str::from_utf8(bytes), shape) {
            (Some(why @ (split_records::TOO_LONG | split_records::TOO_LONG_QUOTED)), ..) => {
                Err(Refusal::of_line(TOO_LONG, why))
            }
            (Some(why), ..) => Err(Refusal::of_line(INVALID_LINE, why)),
            _ if bytes.trim_ascii().is_empty() => continue,
            (None, Err(_), _) => Err(Refusal::of_line(INVALID_LINE, "not valid UTF-8")),
            (None, Ok(text), Shape::Lines) => table.change(text),
            (None, Ok(text), Shape::Csv) => {
                let fields = split(text);
                if std::mem::take(&mut is_first) && columns.is_header(&fields) {
                    let wrong = |why: String| Error::Setup(format!("{name}:{line}: {}", printable(&why)));
                    columns.take_header(&fields).map_err(wrong)?;
                    continue;
                }
                object_of(&columns, &fields).and_then(|object| table.change(&object))
            }
        };
        let change = change.map_err(|refusal| refusal.showing(bytes, shape));
        if !filling.add(line, change, bytes.len()) {
            return Ok(());
        }
    }
}

/// The bytes that tell the format, from the first on that is not blank, and the whole input without a byte order mark.
fn beginning(mut input: impl Read) -> io::Result<(Vec<u8>, impl Read)> {
    let mut head = Vec::new();
    while head.trim_ascii_start().len() < TELLING
        && head.len() < MOST_BLANK
        && input.by_ref().take(TELLING as u64).read_to_end(&mut head)? > 0
    {}
    if head.starts_with(MARK) {
        head.drain(..MARK.len());
    }
    Ok((head.trim_ascii_start().to_vec(), Cursor::new(head).chain(input)))
}

/// A batch while it is filled.
struct Filling {
    sender: Sender<Batch>,
    batch: Batch,
    bytes: usize,
    longest: usize,
}

impl Filling {
    /// Adds a line; false if the receiver is gone.
    fn add(&mut self, line: u64, change: Result<Command, Refusal>, bytes: usize) -> bool {
        let change = match change {
            Ok(_) if bytes > self.longest => {
                let reason = format!("the line is longer than {} bytes (server.body_limit)", self.longest);
                Err(Refusal::of_line(TOO_LONG, reason))
            }
            change => change,
        };
        self.batch.push((line, change));
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

    /// The result of a text: accepted lines, refused lines, the final error.
    fn read_all(text: &[u8]) -> (Vec<u64>, Vec<(u64, String)>, Option<String>) {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let mut filling = Filling { sender, batch: Vec::new(), bytes: 0, longest: usize::MAX };
        let result = run("f", Table::Follows, text, &mut filling);
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
        let mut filling = Filling { sender, batch: Vec::new(), bytes: 0, longest: usize::MAX };
        let change = || Table::Names.change(r#"{"id":1}"#);
        for line in 0..2500 {
            filling.add(line, change(), 10);
        }
        filling.add(2500, change(), BATCH_BYTES);
        filling.hand_over();
        drop(filling);
        assert_eq!(receiver.iter().map(|batch| batch.len()).collect::<Vec<_>>(), [1000, 1000, 501]);
    }
}
