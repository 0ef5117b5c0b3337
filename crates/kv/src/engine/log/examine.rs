//! Finds where the replayable log ends, and whether flushed rows are behind that place.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::files;
use super::manifest::oldest_needed;
use super::reader::{BLOCK, HEAD, Reader, is_part_of_fragment};
use crate::engine::open_advice;
use crate::options::ENGINE;
use model::error::{Error, Result};

/// Most bytes of a batch without rows: a fragment's head, its own head, a note, and the unused end of a block.
const MOST_WITHOUT_ROWS: usize = HEAD + 12 + 11 + HEAD - 1;

/// The place where the chain of batches ends before the log does.
#[derive(Debug)]
struct Damage {
    path: PathBuf,
    at: usize,
    /// The file may be intact, but does not continue the one before it.
    is_gap: bool,
    /// The last file ends within a fragment at the place, so nothing follows that a replay would look at.
    is_cut_short: bool,
    /// Whether the place is in the last file.
    is_last: bool,
    /// The sequence number of the last row before the place; `None` if there is none.
    last: Option<u64>,
    /// Bytes from the place to the first whole batch, or to the end of the file.
    bad: usize,
    behind: Behind,
}

/// The batches behind the place that are whole.
#[derive(Debug, Default)]
struct Behind {
    /// Bytes to the end of the last file, without trailing zeros.
    bytes: u64,
    batches: u64,
    /// Those of them with rows.
    writes: u64,
    /// The sequence numbers of the first and the last row.
    rows: Option<(u64, u64)>,
    /// The highest note of a flushed sequence number.
    flushed: Option<u64>,
}

impl Behind {
    /// Counts the content of a file from a byte on. Returns the start of the first whole batch.
    fn take_in(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        self.bytes += length(bytes).saturating_sub(from) as u64;
        let mut reader = Reader::new(bytes, from);
        let mut first_at = None;
        while let Some(batch) = reader.next_intact() {
            first_at = first_at.or(Some(batch.at));
            let (first, last) = self.rows.unwrap_or((batch.first, 0));
            self.rows = Some((first.min(batch.first), last.max(batch.last())));
            self.batches += 1;
            self.writes += u64::from(batch.rows > 0);
            self.flushed = self.flushed.max(batch.flushed);
        }
        first_at
    }
}

impl Damage {
    fn new(path: &Path, at: usize, last: Option<u64>, bytes: &[u8]) -> Self {
        let mut behind = Behind::default();
        let bad = behind.take_in(bytes, at).unwrap_or(length(bytes)).saturating_sub(at);
        let is_cut_short = bytes.get(at..).is_some_and(is_part_of_fragment);
        Self { path: path.to_owned(), at, is_gap: false, is_cut_short, is_last: true, last, bad, behind }
    }

    /// Whether rows that were flushed to the device cannot be replayed.
    fn loses(&self) -> bool {
        let (Some(flushed), Some((first, _))) = (self.behind.flushed, self.behind.rows) else { return false };
        match self.last {
            Some(last) => flushed > last,
            // Earlier rows are in table files, up to an unknown number. The row before the first one behind was in the
            // damaged part, unless that part had no rows.
            None => self.bad > MOST_WITHOUT_ROWS && flushed + 1 >= first,
        }
    }

    /// The least number of lost rows.
    fn rows(&self) -> u64 {
        let (first, end) = self.behind.rows.unwrap_or_default();
        end - self.last.unwrap_or(first.saturating_sub(1)).min(end)
    }

    /// The least number of lost writes: of acknowledged changes, and of internal work for them.
    fn writes(&self) -> u64 {
        // Rows between the chain and the first whole batch behind the place were in a damaged batch.
        let torn = match (self.last, self.behind.rows) {
            (Some(last), Some((first, _))) => first > last + 1,
            _ => true,
        };
        self.behind.writes + u64::from(torn)
    }

    fn place(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().display();
        match self.is_gap {
            true => format!("db/{name} does not continue the log file before it"),
            false => format!("db/{name} is damaged at byte {}", self.at),
        }
    }

    /// The error for an operator who would lose changes.
    fn refusal(&self, data: &Path) -> Error {
        let (place, writes, rows, bytes) = (self.place(), self.writes(), self.rows(), self.behind.bytes);
        let plural = if writes == 1 { "" } else { "s" };
        Error::Setup(format!(
            "data directory {}: {place}. At least {writes} write{plural} from that place on would be lost: \
             acknowledged changes and internal work for them ({rows} rows, {bytes} bytes). First make a copy of the \
             directory. Then restore a backup, or start once without these writes: tideline serve --data-dir {} \
             --accept-log-loss",
            data.display(),
            open_advice::shell_word(data)
        ))
    }
}

/// Checks the log before the engine replays it. Fails if the replay would lose flushed rows, unless `accept_loss`.
/// Marks the place where the chain ends, so that the engine ends there too: it skips zeros, and gaps between two files.
/// Returns whether flushed rows are lost.
pub(crate) fn prepare(data: &Path, accept_loss: bool) -> Result<bool> {
    let Some(damage) = find(data)? else { return Ok(false) };
    let (file, offset) = (damage.path.display(), damage.at);
    let (batches, bytes) = (damage.behind.batches, damage.behind.bytes);
    if !damage.loses() {
        tracing::warn!(%file, offset, batches, bytes,
            "the end of the write-ahead log is incomplete, as after a power cut, and is removed. It had not been \
             flushed to the device, unless the file was changed afterwards");
    } else if accept_loss {
        let (place, writes, rows) = (damage.place(), damage.writes(), damage.rows());
        tracing::warn!(%file, offset, place, writes, rows, bytes,
            "acknowledged changes are lost, as --accept-log-loss allows");
    } else {
        return Err(damage.refusal(data));
    }
    mark(&damage.path, damage.at).map_err(|e| unreadable(data, &damage.path, &e))?;
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
        Some(damage) if !damage.is_cut_short || !damage.is_last => Err(Error::Setup(format!(
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
    if damage.loses() || !damage.is_last {
        return Err(Error::Corrupt(format!("the copy of the log: {}", damage.place())));
    }
    let cut = || {
        let file = OpenOptions::new().write(true).open(&damage.path)?;
        file.set_len(damage.at as u64)?;
        file.sync_all()
    };
    cut().map_err(|e| unreadable(copy, &damage.path, &e))
}

/// The place where the replay of a log ends before the log does.
fn find(data: &Path) -> Result<Option<Damage>> {
    let engine = data.join(ENGINE);
    let mut files = files(&engine).map_err(|e| unreadable(data, &engine, &e))?;
    // Files that the engine no longer needs may be damaged or missing.
    let needed = files.split_off(&oldest_needed(&engine));
    // Zeros at the end are no damage.
    Ok(survey(data, &needed)?.filter(|damage| damage.behind.bytes > 0))
}

fn unreadable(data: &Path, path: &Path, error: &io::Error) -> Error {
    let path = path.strip_prefix(data).unwrap_or(path).display();
    open_advice::failed(data, &format!("cannot use {path}"), error)
}

/// Follows the chain of batches through the files, with one file in memory at a time. Returns the damage at which the
/// chain ends, if any.
fn survey(data: &Path, files: &BTreeMap<u64, PathBuf>) -> Result<Option<Damage>> {
    let (mut last, mut damage): (Option<u64>, Option<Damage>) = (None, None);
    for path in files.values() {
        let bytes = fs::read(path).map_err(|e| unreadable(data, path, &e))?;
        let mut reader = Reader::new(&bytes, 0);
        let mut next = reader.next();
        let first = next.as_ref().ok().and_then(|batch| batch.map(|batch| batch.first));
        // An earlier start may have continued from the place of the damage.
        damage = damage.filter(|found| found.last.is_none() || found.last.map(|last| last + 1) != first);
        if let Some(damage) = &mut damage {
            damage.is_last = false;
            damage.behind.take_in(&bytes, 0);
            continue;
        }
        if last.zip(first).is_some_and(|(last, first)| first > last + 1) {
            damage = Some(Damage { is_gap: true, is_cut_short: false, ..Damage::new(path, 0, last, &bytes) });
            continue;
        }
        while let Ok(Some(batch)) = next {
            last = last.max(Some(batch.last()));
            next = reader.next();
        }
        if let Err(at) = next {
            damage = Some(Damage::new(path, at, last, &bytes));
        }
    }
    Ok(damage)
}

/// The length without trailing zeros, bytes.
fn length(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

/// Makes a file unreadable from byte `at` on: writes an invalid head there and at the start of each later block. The file
/// keeps its length, which the engine may know.
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
