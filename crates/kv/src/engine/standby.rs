//! The directory of a standby: it takes a copy of another server's store, and applies that server's log as it is.
//!
//! Each batch keeps its sequence numbers, so the log of the standby continues that of its origin. Nothing else writes.
//! Compaction filters only apply floors that are rows themselves, and merges are functions of the rows, so both stores
//! have the same rows, though not in the same files.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use rocksdb::WriteBatch;

use super::directory::{self, STANDBY};
use super::log_source::tables_in;
use super::open::{self, Opening};
use super::writable::Opened;
use super::{last_run, log, open_advice};
use crate::LogFacts;
use crate::family::Schema;
use crate::options::{ENGINE, Options};
use model::error::{Code, Error, Result};
use model::failpoint::Failpoint;
use model::{Millis, failpoint, private_files};

/// The name of the file `STANDBY` after the promotion.
const PROMOTED: &str = "PROMOTED";
/// The folder of a new copy, until it takes the place of the present one.
const COPYING: &str = "COPYING";
/// The plan of the copy, in that folder, as the origin sent it.
const PLAN: &str = "PLAN";
/// The file in that folder with the id of the log, made once all others are whole.
const DONE: &str = "DONE";
/// First words of lines in the file `STANDBY`.
const OF: &str = "standby of ";
const LOG: &str = "log ";
const WHOLE: &str = "whole ";

/// The server that a standby follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Its address.
    pub url: String,
    /// The id of the log whose rows the directory has; `None` until it has a whole copy.
    pub log: Option<u64>,
    /// The time at which the directory last had every row of the server, about; `None` if it never had since its copy, or is
    /// known to lack rows.
    pub whole_at: Option<Millis>,
}

impl Origin {
    fn text(&self) -> String {
        let log = self.log.map(|log| format!("{LOG}{log:016x}\n")).unwrap_or_default();
        let whole = self.whole_at.map(|at| format!("{WHOLE}{at}\n")).unwrap_or_default();
        format!("{OF}{}\n{log}{whole}", self.url)
    }

    /// The file of a directory that follows another server.
    pub fn file(dir: &Path) -> PathBuf {
        dir.join(STANDBY)
    }

    /// Makes a directory one that follows this server.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        private_files::replace_file(&Self::file(dir), self.text().as_bytes())
    }

    fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let url = lines.next()?.strip_prefix(OF)?.to_owned();
        let log = lines.next().map(log_in).transpose().ok()?;
        let whole_at = lines.next().map(|line| line.strip_prefix(WHOLE)?.parse().ok());
        Some(Self { url, log, whole_at: whole_at.flatten() })
    }
}

/// Whether an entry may stay beside a new standby: the backups of a server that was there before, and its data, moved
/// into a folder `old-…`.
fn is_left(name: &OsStr) -> bool {
    name == "backups" || name.as_encoded_bytes().starts_with(b"old-")
}

fn log_in(line: &str) -> Result<u64, ()> {
    line.strip_prefix(LOG).and_then(|log| u64::from_str_radix(log.trim_end(), 16).ok()).ok_or(())
}

/// A directory of a standby that this process holds.
#[derive(Debug)]
pub struct StandbyDirectory {
    path: PathBuf,
    _lock: File,
}

impl StandbyDirectory {
    /// Whether a directory was that of a standby, and is one of its own since.
    pub fn was_promoted(path: &Path) -> bool {
        path.join(PROMOTED).exists() && !path.join(STANDBY).exists()
    }

    /// Takes the directory of a standby for this process. With `url`, an empty directory becomes a standby of that server;
    /// without it, the directory must be a standby. A whole copy takes its place; an unfinished one of another server is
    /// removed.
    pub fn claim(path: &Path, url: Option<&str>) -> Result<Self> {
        let failed = |what: &str, error: &io::Error| open_advice::failed(path, what, error);
        if url.is_some() {
            private_files::make_dirs(path).map_err(|e| failed("cannot be created", &e))?;
        }
        let is_standby = path.join(STANDBY).exists();
        if !is_standby {
            let is_empty = url.is_some()
                && !path.join(directory::FORMAT_FILE).exists()
                && directory::others(path, is_left).map_err(|e| failed("cannot be listed", &e))?.is_empty();
            if !is_empty {
                return Err(Error::Setup(format!(
                    "{} is not the directory of a standby: it has no file {STANDBY}. Choose an empty directory with \
                     --data-dir, or serve this one with tideline serve",
                    path.display()
                )));
            }
        }
        let claimed = Self { path: path.to_owned(), _lock: directory::hold(path)? };
        // It describes an earlier run as a server.
        last_run::forget(path).map_err(|e| failed("cannot remove RUN", &e))?;
        claimed.take_place()?;
        if let Some(url) = url {
            let mut origin =
                if is_standby { claimed.origin()? } else { Origin { url: String::new(), log: None, whole_at: None } };
            if origin.url != url {
                // After a switch, two servers may have a log of the same id, and different files of one name.
                claimed.drop_copy()?;
                url.clone_into(&mut origin.url);
                claimed.set_origin(&origin)?;
            }
        }
        Ok(claimed)
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The server that it follows.
    pub fn origin(&self) -> Result<Origin> {
        let text = fs::read_to_string(self.path.join(STANDBY)).map_err(|e| self.failed(STANDBY, &e))?;
        Origin::read(&text).ok_or_else(|| Error::Setup(format!("{}: {STANDBY} is unreadable", self.path.display())))
    }

    fn set_origin(&self, origin: &Origin) -> Result<()> {
        origin.write(&self.path).map_err(|e| self.failed(STANDBY, &e))
    }

    /// Writes down when the directory last had every row of its server; `None` if it lacks rows.
    pub fn note_whole(&self, whole_at: Option<Millis>) -> Result<()> {
        self.set_origin(&Origin { whole_at, ..self.origin()? })
    }

    fn failed(&self, what: &str, error: &io::Error) -> Error {
        open_advice::failed(&self.path, what, error)
    }

    /// The plan of the unfinished copy, in the bytes of the origin; `None` if there is no folder for its files.
    pub fn unfinished(&self) -> Option<Vec<u8>> {
        let folder = self.copying();
        fs::read(folder.join(PLAN)).ok().filter(|_| folder.join(ENGINE).exists())
    }

    /// Whether a copy with all its files still has to take its place.
    pub fn has_whole_copy(&self) -> bool {
        self.copying().join(DONE).exists()
    }

    /// The folder of the unfinished copy.
    pub fn copying(&self) -> PathBuf {
        self.path.join(COPYING)
    }

    /// Begins a copy, or goes on with an unfinished one; not beside a whole one. Refused with `no_room` unless so many bytes and
    /// `min_free` are free.
    pub fn begin_copy(&self, plan: &[u8], bytes: u64, min_free: u64) -> Result<()> {
        let folder = self.copying();
        super::backup::room_for(&self.path, bytes, min_free)?;
        let made = private_files::make_dirs(&folder.join(ENGINE));
        made.and_then(|()| private_files::replace_file(&folder.join(PLAN), plan)).map_err(|e| self.failed(COPYING, &e))
    }

    /// Puts the copy, whose files are whole and flushed, in the place of the present files, which must not be open. `log` is
    /// the id of the log from which it goes on.
    pub fn finish_copy(&self, log: u64) -> Result<()> {
        let folder = self.path.join(COPYING);
        let done = private_files::flush_names(&folder.join(ENGINE))
            .and_then(|()| private_files::replace_file(&folder.join(DONE), format!("{LOG}{log:016x}\n").as_bytes()));
        done.map_err(|e| self.failed(COPYING, &e))?;
        self.take_place()
    }

    /// Removes an unfinished copy.
    pub fn drop_copy(&self) -> Result<()> {
        private_files::remove_dir(&self.path.join(COPYING)).map_err(|e| self.failed(COPYING, &e))
    }

    /// Lets a whole copy, if there is one, take the place of the present files, which must not be open. Each step can be repeated
    /// after a failure or a crash, and the directory has a whole copy after each.
    pub fn take_place(&self) -> Result<()> {
        let (copy, engine) = (self.path.join(COPYING), self.path.join(ENGINE));
        let Ok(done) = fs::read_to_string(copy.join(DONE)) else { return Ok(()) };
        let log = log_in(&done).map_err(|()| Error::Setup(format!("{}/{DONE} is unreadable", copy.display())))?;
        let failed = |e: io::Error| self.failed(COPYING, &e);
        if copy.join(ENGINE).exists() {
            if engine.exists() {
                fs::remove_dir_all(&engine).map_err(failed)?;
                failpoint::pass(Failpoint::StandbyMoved);
            }
            fs::rename(copy.join(ENGINE), &engine).map_err(failed)?;
            private_files::flush_names(&copy).and_then(|()| private_files::flush_names(&self.path)).map_err(failed)?;
        }
        failpoint::pass(Failpoint::StandbySwapped);
        directory::write_format(&self.path).map_err(failed)?;
        self.set_origin(&Origin { log: Some(log), whole_at: None, ..self.origin()? })?;
        self.drop_copy()
    }

    /// Makes it a directory of its own, whose store must not be open. Set `goes_on` only if it has every change of its
    /// origin: then the readers of changes and the streams of that server go on. Otherwise they begin anew, as after a
    /// restore.
    pub fn promote(self, goes_on: bool) -> Result<()> {
        // The present files may be removed in part already.
        self.take_place()?;
        let Some(log) = self.origin()?.log.filter(|_| self.path.join(ENGINE).exists()) else {
            return Err(Error::Setup(format!(
                "the standby {} has no whole copy of its server yet, so it cannot take over",
                self.path.display()
            )));
        };
        self.drop_copy()?;
        let run = if goes_on { last_run::Run::went_on(&self.path, log) } else { last_run::forget(&self.path) };
        run.map_err(|e| self.failed("RUN", &e))?;
        failpoint::pass(Failpoint::StandbyPromoted);
        let named = fs::rename(self.path.join(STANDBY), self.path.join(PROMOTED));
        let named = named.and_then(|()| private_files::flush_names(&self.path));
        named.map_err(|e| self.failed(STANDBY, &e))
    }
}

/// The store of a standby, open. Only the log of the origin changes it.
pub struct Standby {
    engine: Opened,
    schema: Arc<dyn Schema>,
}

impl fmt::Debug for Standby {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standby").field("dir", &self.engine.db.path()).finish_non_exhaustive()
    }
}

impl Standby {
    /// Opens the store of a directory that the caller holds. A damaged end of its log is cut off: the origin has it still.
    pub fn open(directory: &StandbyDirectory, options: &Options, schema: &Arc<dyn Schema>) -> Result<Self> {
        let dir = directory.path();
        let options = Options { keeps_log: false, sync: true, compacts: true, ..options.clone() };
        let loses = log::prepare(dir, true)?;
        let engine = Opened::open(dir, &options, |_| {
            let db = open::open(&options, schema, &dir.join(ENGINE), Opening::Usual, (false, loses))?;
            let db = db.map_err(|error| match open_advice::is_damage(&error) {
                true => Error::Corrupt(error.into_string()),
                false => open_advice::cannot_open(dir, &error),
            })?;
            Ok((db, None))
        })?;
        Ok(Self { engine, schema: Arc::clone(schema) })
    }

    /// The number of the last row.
    pub fn sequence(&self) -> u64 {
        self.engine.db.latest_sequence_number()
    }

    /// Fails if a server of this format, with these tables, cannot be followed by this version.
    pub fn can_follow(LogFacts { format, release, tables, .. }: &LogFacts, schema: &dyn Schema) -> Result<()> {
        let is_known = |name: &str| schema.families().iter().any(|table| table.name == name);
        if *format == directory::CURRENT && tables.iter().all(|(name, _)| is_known(name)) {
            return Ok(());
        }
        Err(Error::Setup(format!(
            "the server has version {release} and format {format}; this is version {}, with format {}, and cannot \
             follow it. Use the same version for both",
            env!("CARGO_PKG_VERSION"),
            directory::CURRENT
        )))
    }

    /// Fails unless each table of the origin has the same number here: batches name tables by their numbers.
    pub fn has_tables(&self, theirs: &[(String, u32)]) -> Result<()> {
        let ours = tables_in(&self.engine.db, self.schema.families())?;
        match theirs.iter().find(|table| !ours.contains(table)) {
            None => Ok(()),
            Some((name, _)) => Err(Error::refused(
                Code::LogGone,
                format_args!("the table {name} is another one than when the copy was made"),
            )),
        }
    }

    /// Makes the writes of a batch of the origin's log, as [`LogReader::next`](crate::LogReader::next) gives it. It is durable
    /// after [`Standby::flush`]. Fails if it is damaged, or does not continue the rows.
    pub fn apply(&self, summed: &[u8]) -> Result<()> {
        let damaged = || Error::Corrupt("a batch of the log came damaged".to_owned());
        let (sum, batch) = summed.split_first_chunk().ok_or_else(damaged)?;
        if crc32c::crc32c(batch).to_le_bytes() != *sum {
            return Err(damaged());
        }
        let (first, last) = log::first_and_last(batch).ok_or_else(damaged)?;
        let present = self.sequence();
        if first != present + 1 {
            return Err(Error::refused(
                Code::LogGone,
                format_args!("the log goes on at row {first}, behind row {present}"),
            ));
        }
        // The last note of a batch counts: those of the origin say how far that one had flushed.
        self.engine.write(WriteBatch::from_data(batch), false)?;
        let now = self.sequence();
        if now != last {
            return Err(Error::Corrupt(format!("a batch up to row {last} led to row {now}")));
        }
        Ok(())
    }

    /// Makes all rows durable.
    pub fn flush(&self) -> Result<()> {
        if self.engine.flushed.through() == self.sequence() {
            return Ok(());
        }
        self.engine.flush_log().map_err(|error| {
            self.engine.note(&error);
            self.engine.health.refused(&error.into_string())
        })
    }

    /// Whether it must be opened again before it takes writes.
    pub fn needs_restart(&self) -> bool {
        self.engine.health.has_ended()
    }
}

impl Drop for Standby {
    /// Flushes the log, so that the next start replays all of it.
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "the log of the standby could not be flushed; the origin has it still");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_has_left_aside_may_stay_and_nothing_else() {
        let dir = tempfile::tempdir().expect("temp dir");
        for left in ["backups", "lost+found", "old-1", "old-2", "old-3"] {
            fs::create_dir(dir.path().join(left)).expect("a folder");
        }
        fs::write(dir.path().join("thesis.tex"), "x").expect("writes");
        let error = StandbyDirectory::claim(dir.path(), Some("http://a")).expect_err("foreign").to_string();
        assert!(error.contains("is not the directory of a standby"), "{error}");
        fs::remove_file(dir.path().join("thesis.tex")).expect("removes");
        StandbyDirectory::claim(dir.path(), Some("http://a")).expect("claims");
    }
}
