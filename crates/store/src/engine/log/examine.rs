//! Finds where the replayable log ends, and whether flushed rows are behind that place.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::manifest::oldest_needed;
use super::reader::{BLOCK, Batch, HEAD, Reader, is_part_of_fragment};
use crate::engine::advice;
use model::error::{Error, Result};

/// Most bytes of a batch without rows: a fragment's head, its own head, a note, and the unused end of a block.
const MOST_WITHOUT_ROWS: usize = HEAD + 12 + 11 + HEAD - 1;

/// A file of the log.
#[derive(Debug, Clone)]
struct LogFile {
    number: u64,
    path: PathBuf,
}

/// The place where the chain of batches ends before the log does.
#[derive(Debug)]
struct Damage {
    file: LogFile,
    at: usize,
    /// The file may be intact, but does not continue the one before it.
    gap: bool,
    /// The sequence number of the last row before the place; `None` if there is none.
    last: Option<u64>,
    /// Bytes from the place to the end of the last file, without trailing zeros.
    bytes: u64,
    /// Bytes from the place to the first whole batch, or to the end of the file.
    bad: usize,
    /// The lowest and the highest sequence number of a row behind the place.
    behind: Option<(u64, u64)>,
    /// The number of whole batches behind the place, and of the writes with rows in them.
    batches: u64,
    whole: u64,
    /// The highest note of a flushed sequence number in a batch behind the place.
    flushed: Option<u64>,
}

impl Damage {
    fn new(file: &LogFile, at: usize, last: Option<u64>, bytes: &[u8]) -> Self {
        let (behind, flushed) = (None, None);
        let file = file.clone();
        let mut damage = Self { file, at, gap: false, last, bytes: 0, bad: 0, behind, batches: 0, whole: 0, flushed };
        let first = damage.take_in(bytes, at);
        damage.bad = first.unwrap_or(length(bytes)).saturating_sub(at);
        damage
    }

    /// Counts the content of a file from a byte on. Returns the start of the first whole batch.
    fn take_in(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        self.bytes += length(bytes).saturating_sub(from) as u64;
        let mut reader = Reader::new(bytes, from);
        let mut first_at = None;
        while let Some(Batch { at, first, notes, flushed, rows }) = reader.next_intact() {
            first_at = first_at.or(Some(at));
            let (begin, end) = self.behind.unwrap_or((first, 0));
            self.behind = Some((begin.min(first), end.max((first + rows).saturating_sub(1))));
            self.batches += 1;
            self.whole += if rows > 0 { notes } else { 0 };
            self.flushed = self.flushed.max(flushed);
        }
        first_at
    }

    /// Whether anything but zeros follows the place.
    fn is_something(&self) -> bool {
        self.bytes > 0
    }

    /// Whether rows that were flushed to the device cannot be replayed.
    fn loses(&self) -> bool {
        let (Some(flushed), Some((first, _))) = (self.flushed, self.behind) else { return false };
        match self.last {
            Some(last) => flushed > last,
            // Earlier rows are in table files, up to an unknown number. The row before the first one behind was in the
            // damaged part, unless that part had no rows.
            None => self.bad > MOST_WITHOUT_ROWS && flushed + 1 >= first,
        }
    }

    /// Whether the last file ends within a fragment at the place, so nothing follows that a replay would look at.
    fn is_cut_short(&self, data: &Path) -> Result<bool> {
        let failed = |e| unreadable(data, &self.file.path, &e);
        let is_last =
            files(&data.join("db")).map_err(failed)?.last().is_some_and(|file| file.number == self.file.number);
        let bytes = fs::read(&self.file.path).map_err(failed)?;
        Ok(is_last && !self.gap && bytes.get(self.at..).is_some_and(is_part_of_fragment))
    }

    /// The least number of lost rows.
    fn rows(&self) -> u64 {
        let (first, end) = self.behind.unwrap_or_default();
        end - self.last.unwrap_or(first.saturating_sub(1)).min(end)
    }

    /// The least number of lost writes: of acknowledged changes, and of internal work for them.
    fn writes(&self) -> u64 {
        // Rows between the chain and the first whole batch behind the place were in a damaged batch.
        let torn = match (self.last, self.behind) {
            (Some(last), Some((first, _))) => first > last + 1,
            _ => true,
        };
        self.whole + u64::from(torn)
    }

    fn place(&self) -> String {
        let number = self.file.number;
        match self.gap {
            true => format!("db/{number:06}.log does not continue the log file before it"),
            false => format!("db/{number:06}.log is damaged at byte {}", self.at),
        }
    }

    /// The error for an operator who would lose changes.
    fn refusal(&self, data: &Path) -> Error {
        let (place, writes, rows, bytes) = (self.place(), self.writes(), self.rows(), self.bytes);
        let plural = if writes == 1 { "" } else { "s" };
        Error::Setup(format!(
            "data directory {}: {place}. At least {writes} write{plural} from that place on would be lost: \
             acknowledged changes and internal work for them ({rows} rows, {bytes} bytes). First make a copy of the \
             directory. Then restore a backup, or start once without these writes: tideline serve --data-dir {} \
             --accept-log-loss",
            data.display(),
            advice::shell_word(data)
        ))
    }
}

/// Checks the log before the engine replays it. Fails if the replay would lose flushed rows, unless `accept_loss`.
/// Marks the place where the chain ends, so that the engine ends there too: it skips zeros, and gaps between two files.
/// Returns whether flushed rows are lost.
pub(crate) fn prepare(data: &Path, accept_loss: bool) -> Result<bool> {
    let Some(damage) = find(data)? else { return Ok(false) };
    let (file, offset) = (damage.file.path.display(), damage.at);
    let (batches, writes, rows, bytes) = (damage.batches, damage.writes(), damage.rows(), damage.bytes);
    if !damage.loses() {
        tracing::warn!(%file, offset, batches, bytes,
            "the end of the write-ahead log is incomplete, as after a power cut, and is removed. It had not been \
             flushed to the device, unless the file was changed afterwards");
    } else if accept_loss {
        let place = damage.place();
        tracing::warn!(%file, offset, place, writes, rows, bytes,
            "acknowledged changes are lost, as --accept-log-loss allows");
    } else {
        return Err(damage.refusal(data));
    }
    mark(&damage.file.path, damage.at).map_err(|e| unreadable(data, &damage.file.path, &e))?;
    Ok(damage.loses())
}

/// Fails unless the replay reads the log to its end.
pub(crate) fn must_be_whole(data: &Path) -> Result<()> {
    find(data)?.map_or(Ok(()), |damage| Err(Error::Corrupt(damage.place())))
}

/// Fails unless a replay that marks nothing ends where [`prepare`] would end it: at the end of the log, which a killed
/// process may have cut short. Other damage the engine may pass over, and some it reads again and again.
pub(crate) fn must_be_readable(data: &Path) -> Result<()> {
    match find(data)? {
        Some(damage) if damage.loses() => Err(damage.refusal(data)),
        Some(damage) if !damage.is_cut_short(data)? => Err(Error::Setup(format!(
            "data directory {}: {}, as after a power cut, and only a start can cut that off. Run tideline check on the \
             directory first",
            data.display(),
            damage.place()
        ))),
        _ => Ok(()),
    }
}

/// Cuts off the torn end of a copied log: the copy may end within a batch that was being written. Fails if flushed rows
/// are behind the place.
pub(crate) fn cut(copy: &Path) -> Result<()> {
    let Some(damage) = find(copy)? else { return Ok(()) };
    let later = files(&copy.join("db")).is_ok_and(|files| files.iter().any(|file| file.number > damage.file.number));
    if damage.loses() || later {
        return Err(Error::Corrupt(format!("the copy of the log: {}", damage.place())));
    }
    let cut = || {
        let file = OpenOptions::new().write(true).open(&damage.file.path)?;
        file.set_len(damage.at as u64)?;
        file.sync_all()
    };
    cut().map_err(|e| unreadable(copy, &damage.file.path, &e))
}

/// The place where the replay of a log ends before the log does.
fn find(data: &Path) -> Result<Option<Damage>> {
    let engine = data.join("db");
    let files = files(&engine).map_err(|e| unreadable(data, &engine, &e))?;
    let mut found = survey(data, &files)?;
    if found.as_ref().is_some_and(|damage| damage.batches > 0) {
        // Files that the engine no longer needs may be damaged or missing.
        let needed = oldest_needed(&engine);
        let needed: Vec<_> = files.into_iter().filter(|file| file.number >= needed).collect();
        found = survey(data, &needed)?;
    }
    Ok(found.filter(Damage::is_something))
}

fn unreadable(data: &Path, path: &Path, error: &io::Error) -> Error {
    let path = path.strip_prefix(data).unwrap_or(path).display();
    advice::failed(data, &format!("cannot use {path}"), error)
}

/// The files of the log, oldest first.
fn files(engine: &Path) -> io::Result<Vec<LogFile>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(engine)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(OsStr::to_str).and_then(|stem| stem.parse().ok());
        if let Some(number) = number.filter(|_| path.extension() == Some(OsStr::new("log"))) {
            files.push(LogFile { number, path });
        }
    }
    files.sort_by_key(|file| file.number);
    Ok(files)
}

/// Follows the chain of batches through the files, with one file in memory at a time. Returns the damage at which the
/// chain ends, if any.
fn survey(data: &Path, files: &[LogFile]) -> Result<Option<Damage>> {
    let (mut last, mut damage): (Option<u64>, Option<Damage>) = (None, None);
    for file in files {
        let bytes = fs::read(&file.path).map_err(|e| unreadable(data, &file.path, &e))?;
        let mut reader = Reader::new(&bytes, 0);
        let mut next = reader.next();
        if let (Some(found), Ok(Some(batch))) = (&damage, &next)
            && found.last.is_some_and(|last| batch.first == last + 1)
        {
            // An earlier start continued from that place.
            damage = None;
        }
        if let (None, Some(last), Ok(Some(batch))) = (&damage, last, &next)
            && batch.first > last + 1
        {
            damage = Some(Damage { gap: true, ..Damage::new(file, 0, Some(last), &bytes) });
            continue;
        }
        if let Some(damage) = &mut damage {
            damage.take_in(&bytes, 0);
            continue;
        }
        while let Ok(Some(batch)) = next {
            last = last.max(Some(batch.last()));
            next = reader.next();
        }
        if let Err(at) = next {
            damage = Some(Damage::new(file, at, last, &bytes));
        }
    }
    Ok(damage)
}

/// The length without trailing zeros, bytes.
fn length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

/// Hides a file's content from a byte on from all readers: writes invalid heads there and at the start of each later
/// block. The file keeps its length, which the engine may know.
fn mark(path: &Path, at: usize) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    let length = file.metadata()?.len();
    let blocks = (at as u64 + 1).next_multiple_of(BLOCK as u64)..;
    for place in [at as u64].into_iter().chain(blocks.step_by(BLOCK)).take_while(|place| *place < length) {
        let room = (length - place).min(HEAD as u64) as usize;
        file.write_all_at(&[0xFF; HEAD][..room], place)?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests;
