//! The table of inboxes follows from the others. If one of its files is damaged, the next start drops it and makes it
//! anew, instead of a restore.
//!
//! The file `REBUILD` tells the next start. It is there until all inboxes claim nothing: their users are evicted, and
//! the next read of each rebuilds the inbox. So a start that ends earlier is repeated. A start that finds itself that the
//! engine cannot open a file of the table goes the same way.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rocksdb::DB;

use super::open::{Opened, Opening};
use super::{advice, log};
use crate::rows::tables::INBOXES;
use crate::storage;
use model::error::{Error, Result};
use model::private;

/// The file.
const NAME: &str = "REBUILD";

/// Whether the table of inboxes is to be made anew.
#[derive(Debug)]
pub(crate) struct Rebuild {
    dir: PathBuf,
    may_drop: bool,
    /// By this start.
    pub(crate) is_due: bool,
    /// By the next start.
    is_told: AtomicBool,
}

impl Rebuild {
    /// Looks whether an earlier run has told this start, which leaves it to a later one if it may not drop the table.
    pub(crate) fn look(dir: &Path, may_drop: bool) -> Self {
        let is_due = may_drop && dir.join(NAME).exists();
        Self { dir: dir.to_owned(), may_drop, is_due, is_told: AtomicBool::new(false) }
    }

    /// Opens the engine. Drops the table before, if an earlier run has told this start, or if the engine cannot open a
    /// file of it.
    pub(crate) fn open(&mut self, open: impl Fn(Opening) -> Result<Opened>) -> Result<Opened> {
        let mut found = None;
        if !self.is_due {
            match open(Opening::Usual)? {
                Err(error) if self.may_drop && advice::is_damage(&error) => found = Some(error),
                opened => return Ok(opened),
            }
        }
        let is_whole = log::must_be_whole(&self.dir).is_ok();
        let mut db = match open(if is_whole { Opening::Lenient } else { Opening::Quiet })? {
            Ok(db) => db,
            Err(error) => return Ok(Err(found.unwrap_or(error))),
        };
        if let Some(error) = found {
            if !names_inboxes(&db, error.as_ref()) {
                return Ok(Err(error));
            }
            self.tell().map_err(|e| self.failed(&e))?;
            self.is_due = true;
            tracing::warn!(
                cause = error.as_ref(),
                "a file of the table inboxes is damaged; this start drops the table"
            );
        }
        db.drop_cf(INBOXES.name).map_err(storage)?;
        drop(db);
        // The engine makes the table anew.
        open(Opening::Usual)
    }

    pub(crate) fn failed(&self, error: &io::Error) -> Error {
        Error::Setup(format!("{}: {NAME}: {error}", self.dir.display()))
    }

    /// Tells the next start if an error is about files of the table: a compaction of them stops the engine.
    pub(super) fn tell_if_due(&self, db: &DB, cause: &str) -> bool {
        let is_due = names_inboxes(db, cause);
        if is_due {
            self.tell_once(cause);
        }
        is_due
    }

    /// Tells the next start, because a file of the table is damaged.
    pub(crate) fn tell_once(&self, cause: &str) {
        if self.is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        match self.tell() {
            Ok(()) => tracing::warn!(
                cause,
                "a file of the table inboxes is damaged; the next start drops the table, and reads rebuild it"
            ),
            Err(error) => {
                self.is_told.store(false, Ordering::Relaxed);
                tracing::warn!(cause, %error, "a file of the table inboxes is damaged, and the file REBUILD, which \
                    tells the next start to drop the table, cannot be written");
            }
        }
    }

    fn tell(&self) -> io::Result<()> {
        private::replace_file(&self.dir.join(NAME), format!("{INBOXES}\n").as_bytes())
    }

    pub(crate) fn end(&self) -> io::Result<()> {
        fs::remove_file(self.dir.join(NAME))?;
        private::flush_names(&self.dir)
    }
}

/// Whether the files that an error names are those of the table of inboxes.
fn names_inboxes(db: &DB, error: &str) -> bool {
    let files = db.live_files().unwrap_or_default();
    let mut named = files.iter().filter(|file| error.contains(&file.name)).peekable();
    named.peek().is_some() && named.all(|file| file.column_family_name == INBOXES.name)
}
