//! Reads the log while it grows, batch by batch, for a standby.
//!
//! The engine's own way, `get_updates_since`, reads a file from its front each time that it has come to the end of the
//! log. This one goes on where it was.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::files::{ARCHIVE, files, length};
use super::flushed::Flushed;
use super::reader::{BLOCK, Batch, Reader, batch};
use model::error::{Code, Error, Result};

/// Bytes read at once, or as many as there are in memory already, if that is more.
const PIECE: usize = 8 * BLOCK;
/// A batch that was flushed is readable within so long, if the log has it.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A place in the log, behind a row. Only rows on the device are read, so that a standby never has more than the store after a
/// power cut.
#[derive(Debug)]
pub struct LogReader {
    engine: PathBuf,
    flushed: Arc<Flushed>,
    last: u64,
    file: Option<Open>,
    /// When a batch was first asked for that could not be read.
    stuck: Option<Instant>,
}

/// A file of the log that is being read.
#[derive(Debug)]
struct Open {
    number: u64,
    file: File,
    /// The start of the buffer in the file, a multiple of the block.
    base: u64,
    buffer: Vec<u8>,
    /// The next record in the buffer.
    at: usize,
}

impl LogReader {
    /// Behind the row with this sequence number. Looks at no file yet.
    pub(crate) fn new(engine: &Path, flushed: &Arc<Flushed>, last: u64) -> Self {
        Self { engine: engine.to_owned(), flushed: Arc::clone(flushed), last, file: None, stuck: None }
    }

    /// The number of the last row read.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The number of the last row on the device now.
    pub fn flushed(&self) -> u64 {
        self.flushed.through()
    }

    /// The next batch of rows, behind its checksum; `None` if no more are on the device now. Refused with `log_gone` if the log
    /// does not have the next batch any more.
    #[allow(clippy::should_implement_trait, reason = "an end is not the last one")]
    pub fn next(&mut self) -> Result<Option<Vec<u8>>> {
        while self.last < self.flushed() {
            let Some((record, found)) = self.read()? else {
                let since = *self.stuck.get_or_insert_with(Instant::now);
                if since.elapsed() > TIME_LIMIT {
                    let row = self.last + 1;
                    return Err(Error::refused(
                        Code::LogGone,
                        format_args!("the log does not have row {row} any more"),
                    ));
                }
                return Ok(None);
            };
            self.stuck = None;
            if found.rows == 0 || found.last() <= self.last {
                continue;
            }
            if found.first != self.last + 1 {
                return Err(Code::LogGone.into());
            }
            self.last = found.last();
            return Ok(Some([&crc32c::crc32c(&record).to_le_bytes(), &record[..]].concat()));
        }
        Ok(None)
    }

    /// About how many bytes of log come behind this place.
    pub fn left(&self) -> u64 {
        // Notes may follow the last row.
        if self.last >= self.flushed() {
            return 0;
        }
        let (number, read) = self.file.as_ref().map_or((0, 0), |open| (open.number, open.base + open.at as u64));
        let later = all_files(&self.engine).unwrap_or_default().split_off(&number);
        later.values().map(|file| length(file)).sum::<u64>().saturating_sub(read)
    }

    /// The next record of the log; `None` if there is none now.
    fn read(&mut self) -> Result<Option<(Vec<u8>, Batch)>> {
        if self.file.is_none() {
            self.file = self.locate()?;
        }
        while let Some(open) = &mut self.file {
            if let Some(read) = open.next().map_err(failed)? {
                return Ok(Some(read));
            }
            let later = all_files(&self.engine).map_err(failed)?.into_iter().find(|(number, _)| *number > open.number);
            let Some((number, path)) = later else { break };
            // The batches written before the later file was made.
            if let Some(read) = open.next().map_err(failed)? {
                return Ok(Some(read));
            }
            // A file whose end was cut off by a start goes on in the next one; a missing file is noticed by its rows.
            let Some(next) = Open::new(number, &path).map_err(failed)? else { break };
            *open = next;
        }
        Ok(None)
    }

    /// The file with the next row: the last one that begins at it, or before. `None` if one was moved or removed just now.
    fn locate(&self) -> Result<Option<Open>> {
        for (number, path) in all_files(&self.engine).map_err(failed)?.into_iter().rev() {
            let Some(mut open) = Open::new(number, &path).map_err(failed)? else { return Ok(None) };
            let Some((_, first)) = open.next().map_err(failed)? else { continue };
            if first.first <= self.last + 1 {
                open.at = 0;
                return Ok(Some(open));
            }
        }
        // The rows are on the device, so files with them were there.
        Err(Code::LogGone.into())
    }
}

impl Open {
    /// `None` if the file is gone.
    fn new(number: u64, path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => Ok(Some(Self { number, file: file?, base: 0, buffer: Vec::new(), at: 0 })),
        }
    }

    /// The next whole record; `None` if the file has no more of them now.
    fn next(&mut self) -> io::Result<Option<(Vec<u8>, Batch)>> {
        loop {
            let mut reader = Reader::new(&self.buffer, self.at);
            if let Ok(Some((at, record))) = reader.next_record()
                && let Some(found) = batch(at, &record)
            {
                self.at = reader.place();
                return Ok(Some((record.into_owned(), found)));
            }
            if !self.read_more()? {
                return Ok(None);
            }
        }
    }

    /// Reads on in the file; whether there was more.
    fn read_more(&mut self) -> io::Result<bool> {
        let done = self.at / BLOCK * BLOCK;
        self.buffer.drain(..done);
        self.base += done as u64;
        self.at -= done;
        let length = self.buffer.len();
        self.buffer.resize(length + PIECE.max(length), 0);
        let read = self.file.read_at(&mut self.buffer[length..], self.base + length as u64);
        self.buffer.truncate(length + *read.as_ref().unwrap_or(&0));
        if self.buffer.capacity() > 4 * PIECE.max(self.buffer.len()) {
            self.buffer.shrink_to(PIECE);
        }
        Ok(read? > 0)
    }
}

/// The files of the log, by their numbers: those of the engine, and those in its archive.
fn all_files(engine: &Path) -> io::Result<BTreeMap<u64, PathBuf>> {
    // In this order: the engine moves files into the archive meanwhile.
    let mut all = files(engine)?;
    all.extend(files(&engine.join(ARCHIVE))?);
    Ok(all)
}

fn failed(error: io::Error) -> Error {
    Error::Storage(format!("the log cannot be read: {error}"))
}
