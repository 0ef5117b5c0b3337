//! Reads the log while it grows, batch by batch, for a standby.
//!
//! The engine's own way, `get_updates_since`, reads a file from its front each time that it has come to the end of the
//! log. This one goes on where it was.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::reader::{BLOCK, Batch, Reader, batch};
use model::error::{Code, Error, Result};

/// Bytes read at once, or as many as there are in memory already, if that is more.
const PIECE: usize = 8 * BLOCK;
/// A batch that was flushed is readable within so long, if the log has it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The folder of log files that the engine needs no more.
pub(crate) const ARCHIVE: &str = "archive";

/// A place in the log, behind a row. The rows before the next batch are those up to `last`, always.
#[derive(Debug)]
pub(crate) struct Tail {
    engine: PathBuf,
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

impl Tail {
    /// Behind the row with this sequence number. Looks at no file yet.
    pub(crate) fn new(engine: &Path, last: u64) -> Self {
        Self { engine: engine.to_owned(), last, file: None, stuck: None }
    }

    /// The last row read.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// The next batch with rows, as it is in the log; `None` if rows after `through`, the last one flushed, come next.
    /// Refused with `log_gone` if the log does not have the next batch any more.
    pub(crate) fn next(&mut self, through: u64) -> Result<Option<Vec<u8>>> {
        while self.last < through {
            let Some((record, found)) = self.read()? else {
                let since = *self.stuck.get_or_insert_with(Instant::now);
                if since.elapsed() > PATIENCE {
                    // An import or a compaction makes rows, or keeps them, without log.
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
            return Ok(Some(record));
        }
        Ok(None)
    }

    /// Bytes in the files of the log behind this place, about.
    pub(crate) fn left(&self) -> u64 {
        let Ok(files) = files(&self.engine) else { return 0 };
        let Some(open) = &self.file else {
            return files.values().filter_map(|path| Some(path.metadata().ok()?.len())).sum();
        };
        let here = open.file.metadata().map_or(0, |found| found.len().saturating_sub(open.base + open.at as u64));
        let later = files.range(open.number + 1..).filter_map(|(_, path)| Some(path.metadata().ok()?.len()));
        here + later.sum::<u64>()
    }

    /// The next record of the log.
    fn read(&mut self) -> Result<Option<(Vec<u8>, Batch)>> {
        if self.file.is_none() {
            self.file = self.locate()?;
        }
        let Some(open) = &mut self.file else { return Ok(None) };
        if let Some(read) = open.next().map_err(failed)? {
            return Ok(Some(read));
        }
        let later = files(&self.engine).map_err(failed)?.into_iter().find(|(number, _)| *number > open.number);
        let Some((number, path)) = later else { return Ok(None) };
        // What was written before the later file was made.
        if let Some(read) = open.next().map_err(failed)? {
            return Ok(Some(read));
        }
        // A file whose end was cut off by a start goes on in the next one; a missing file is noticed by its rows.
        match Open::new(&self.engine, number, &path).map_err(failed)? {
            Some(next) => self.file = Some(next),
            None => return Ok(None),
        }
        match self.file.as_mut().map(Open::next) {
            Some(read) => read.map_err(failed),
            None => Ok(None),
        }
    }

    /// The file with the next row: the last one that begins at it, or before. `None` if it was removed just now.
    fn locate(&self) -> Result<Option<Open>> {
        for (number, path) in files(&self.engine).map_err(failed)?.into_iter().rev() {
            let Some(mut open) = Open::new(&self.engine, number, &path).map_err(failed)? else { continue };
            let Some((_, first)) = open.next().map_err(failed)? else { continue };
            if first.first <= self.last + 1 {
                // From its front: the buffer may have moved on.
                return Open::new(&self.engine, number, &path).map_err(failed);
            }
        }
        // The rows are on the device, so files with them were there.
        Err(Code::LogGone.into())
    }
}

impl Open {
    /// `None` if the file is gone. The engine may have moved it into the archive meanwhile.
    fn new(engine: &Path, number: u64, path: &Path) -> io::Result<Option<Self>> {
        let archived = || File::open(engine.join(ARCHIVE).join(path.file_name().unwrap_or_default()));
        match File::open(path).or_else(|error| if is_gone(&error) { archived() } else { Err(error) }) {
            Ok(file) => Ok(Some(Self { number, file, base: 0, buffer: Vec::new(), at: 0 })),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error),
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
fn files(engine: &Path) -> io::Result<BTreeMap<u64, PathBuf>> {
    let mut files = BTreeMap::new();
    // In this order: the engine moves files into the archive meanwhile.
    for folder in [engine.to_owned(), engine.join(ARCHIVE)] {
        let entries = match fs::read_dir(&folder) {
            Err(error) if is_gone(&error) => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let number = path.file_stem().and_then(OsStr::to_str).and_then(|stem| stem.parse().ok());
            if let Some(number) = number.filter(|_| path.extension() == Some(OsStr::new("log"))) {
                files.insert(number, path);
            }
        }
    }
    Ok(files)
}

/// Removes the oldest files of the archive, until at most so many bytes are left. A file that cannot be removed stays.
pub(crate) fn trim_archive(engine: &Path, most: u64) {
    let Ok(entries) = fs::read_dir(engine.join(ARCHIVE)) else { return };
    let sizes =
        entries.filter_map(|entry| entry.ok().and_then(|entry| Some((entry.path(), entry.metadata().ok()?.len()))));
    let mut sizes: Vec<_> = sizes.collect();
    sizes.sort();
    let mut all: u64 = sizes.iter().map(|(_, size)| size).sum();
    for (path, size) in sizes {
        if all <= most {
            return;
        }
        if let Err(error) = fs::remove_file(&path) {
            tracing::debug!(%error, "a file of the old log could not be removed");
        }
        all -= size;
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn failed(error: io::Error) -> Error {
    Error::Storage(format!("the log cannot be read: {error}"))
}
