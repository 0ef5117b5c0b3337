//! Where the log ends that the engine can replay, and whether anything was promised behind that place.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::manifest::oldest_needed;
use super::reader::{BLOCK, Batch, HEAD, Next, Reader};
use crate::error::{Error, Result};
use crate::store::rocks::advice;

/// Most bytes of a batch that has no rows: a head, its own head, a note, and what is unused at the end of a block.
const MOST_WITHOUT_ROWS: usize = HEAD + 12 + 11 + HEAD - 1;

/// A file of the log.
#[derive(Debug, Clone)]
struct LogFile {
    number: u64,
    path: PathBuf,
}

/// The place where the chain of batches ends although something follows it.
#[derive(Debug)]
struct Damage {
    file: LogFile,
    at: usize,
    /// The file itself may be right, but does not go on where the one before it ends.
    gap: bool,
    /// The number of the last row before the place; `None` if nothing stands before it.
    last: Option<u64>,
    /// Bytes that are not zero from there on, to the end of the last file.
    bytes: u64,
    /// Bytes from there to the first whole batch, or to the end of the file.
    bad: usize,
    /// The number of the first row behind the place, and of the last one.
    behind: Option<(u64, u64)>,
    /// How many whole batches are behind the place, and how many writes put rows into them.
    batches: u64,
    whole: u64,
    /// Up to where the log was flushed, as a batch behind the place says.
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

    /// Counts what stands in a file from a byte on. Returns where the first whole batch is.
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

    /// Whether anything follows the place but zeros.
    fn is_something(&self) -> bool {
        self.bytes > 0
    }

    /// Whether rows that had been flushed to the device are in what cannot be replayed.
    fn loses(&self) -> bool {
        let (Some(flushed), Some((first, _))) = (self.flushed, self.behind) else { return false };
        match self.last {
            Some(last) => flushed > last,
            // What was before is in table files, up to a number that nobody knows. The row before the first one
            // behind was in the damaged part, unless that had none.
            None => self.bad > MOST_WITHOUT_ROWS && flushed + 1 >= first,
        }
    }

    /// How many rows are lost, at least.
    fn rows(&self) -> u64 {
        let (first, end) = self.behind.unwrap_or_default();
        end - self.last.unwrap_or(first.saturating_sub(1)).min(end)
    }

    /// How many writes are lost, at least: those of acknowledged changes, and those of the work inside for them.
    fn writes(&self) -> u64 {
        // Rows between the chain and the first whole batch behind the place were in a batch that is none now.
        let torn = match (self.last, self.behind) {
            (Some(last), Some((first, _))) => first > last + 1,
            _ => true,
        };
        self.whole + u64::from(torn)
    }

    fn place(&self) -> String {
        let number = self.file.number;
        match self.gap {
            true => format!("db/{number:06}.log does not go on where the log before it ends"),
            false => format!("db/{number:06}.log is damaged at byte {}", self.at),
        }
    }

    /// What an operator is told who would lose something.
    fn refusal(&self, data: &Path) -> Error {
        let (place, writes, rows, bytes) = (self.place(), self.writes(), self.rows(), self.bytes);
        let plural = if writes == 1 { "" } else { "s" };
        Error::Setup(format!(
            "data directory {}: {place}. At least {writes} write{plural} from that place on would be lost (acknowledged \
             changes, and internal work for them; {rows} rows, {bytes} bytes). First keep a copy of the directory. Then \
             restore a backup, or start once without these writes: tideline serve --data-dir {} --accept-log-loss",
            data.display(),
            advice::shell_word(data)
        ))
    }
}

/// Looks at the log before the engine replays it. Fails if that would lose what had been flushed to the device, and
/// `accept_loss` does not say to go on without it. Where a torn end is to be cut off, marks the place, so that the
/// engine ends there too: it passes over zeros, and over what is missing between two files. Returns whether something
/// is lost.
pub(in crate::store::rocks) fn prepare(data: &Path, accept_loss: bool) -> Result<bool> {
    let engine = data.join("db");
    let files = files(&engine).map_err(|e| unreadable(data, &engine, &e))?;
    let mut found = survey(data, &files)?;
    if found.as_ref().is_some_and(|damage| damage.batches > 0) {
        // What the engine does not need any more may be damaged, or gone.
        let needed = oldest_needed(&engine);
        let needed: Vec<_> = files.into_iter().filter(|file| file.number >= needed).collect();
        found = survey(data, &needed)?;
    }
    let Some(damage) = found.filter(Damage::is_something) else { return Ok(false) };
    let (file, offset) = (damage.file.path.display(), damage.at);
    let (batches, writes, rows, bytes) = (damage.batches, damage.writes(), damage.rows(), damage.bytes);
    if !damage.loses() {
        tracing::warn!(%file, offset, batches, bytes, "the end of the log is torn, as after a power cut, and is cut off; unless the file was changed since, none of it had been flushed to the device");
    } else if accept_loss {
        let place = damage.place();
        tracing::warn!(%file, offset, place, writes, rows, bytes, "acknowledged changes are lost, as --accept-log-loss allows");
    } else {
        return Err(damage.refusal(data));
    }
    mark(&damage.file.path, damage.at).map_err(|e| unreadable(data, &damage.file.path, &e))?;
    Ok(damage.loses())
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

/// Follows the chain of batches through the files, one of which is in memory at a time. The damage at which it ends,
/// if there is any.
fn survey(data: &Path, files: &[LogFile]) -> Result<Option<Damage>> {
    let (mut last, mut damage): (Option<u64>, Option<Damage>) = (None, None);
    for file in files {
        let bytes = fs::read(&file.path).map_err(|e| unreadable(data, &file.path, &e))?;
        let mut reader = Reader::new(&bytes, 0);
        let mut next = reader.next();
        if let (Some(found), Next::Batch(batch)) = (&damage, &next)
            && found.last.is_some_and(|last| batch.first == last + 1)
        {
            // An earlier start went on from there.
            damage = None;
        }
        if let (None, Some(last), Next::Batch(batch)) = (&damage, last, &next)
            && batch.first > last + 1
        {
            damage = Some(Damage { gap: true, ..Damage::new(file, 0, Some(last), &bytes) });
            continue;
        }
        if let Some(damage) = &mut damage {
            damage.take_in(&bytes, 0);
            continue;
        }
        while let Next::Batch(batch) = next {
            last = last.max(Some(batch.last()));
            next = reader.next();
        }
        if let Next::Damage(at) = next {
            damage = Some(Damage::new(file, at, last, &bytes));
        }
    }
    Ok(damage)
}

/// Bytes up to the last that is not zero.
fn length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

/// Makes sure that no reader finds anything in a file from a byte on: writes heads there, and at the beginning of each
/// block, that are those of nothing. The file keeps its length, which the engine may know.
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
