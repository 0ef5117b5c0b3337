//! One table may follow from the others, and [be dropped](crate::Family::can_be_dropped). If one of its files is damaged, the next
//! start drops it, and whoever opened the engine makes it anew, instead of a restore.
//!
//! The file `REBUILD` tells the next start. It is there until [`Rebuild::end`]. So a start that ends earlier is repeated. A
//! start that finds itself that the engine cannot open a file of the table goes the same way.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rocksdb::DB;

use super::open::{Opened, Opening};
use super::{log, open_advice};
use crate::error::storage;
use crate::family::Schema;
use model::error::{Error, Result};
use model::private_files;

/// The file.
const NAME: &str = "REBUILD";

/// Whether a table is to be made anew.
#[derive(Debug)]
pub struct Rebuild {
    dir: PathBuf,
    table: &'static str,
    may_drop: bool,
    /// By this start.
    is_due: bool,
    /// By the next start.
    is_told: AtomicBool,
}

impl Rebuild {
    /// Looks whether an earlier run has told this start, which leaves it to a later one if it may not drop the table.
    pub(crate) fn look(dir: &Path, schema: &dyn Schema, may_drop: bool) -> Self {
        let table = schema.families().iter().find(|family| family.can_be_dropped).map(|family| family.name);
        let may_drop = may_drop && table.is_some();
        let (table, is_due) = (table.unwrap_or_default(), may_drop && dir.join(NAME).exists());
        Self { dir: dir.to_owned(), table, may_drop, is_due, is_told: AtomicBool::new(false) }
    }

    /// Opens the engine. Drops the table before, if an earlier run has told this start, or if the engine cannot open a
    /// file of it.
    pub(crate) fn open(&mut self, open: impl Fn(Opening) -> Result<Opened>) -> Result<Opened> {
        let mut found = None;
        if !self.is_due {
            match open(Opening::Usual)? {
                Err(error) if self.may_drop && open_advice::is_damage(&error) => found = Some(error),
                opened => return Ok(opened),
            }
        }
        let is_whole = log::must_be_whole(&self.dir).is_ok();
        let mut db = match open(if is_whole { Opening::Lenient } else { Opening::Quiet })? {
            Ok(db) => db,
            Err(error) => return Ok(Err(found.unwrap_or(error))),
        };
        if let Some(error) = found {
            if !self.is_named(&db, error.as_ref()) {
                return Ok(Err(error));
            }
            self.write().map_err(|e| self.failed(&e))?;
            self.is_due = true;
            tracing::warn!(
                cause = error.as_ref(),
                "a file of the table {} is damaged; this start drops the table",
                self.table
            );
        }
        db.drop_cf(self.table).map_err(storage)?;
        drop(db);
        // The engine makes the table anew.
        open(Opening::Usual)
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::Setup(format!("{}: {NAME}: {error}", self.dir.display()))
    }

    /// Tells the next start if an error is about files of the table: a compaction of them stops the engine.
    pub(super) fn tell_if_due(&self, db: &DB, cause: &str) -> bool {
        let is_due = self.is_named(db, cause);
        if is_due {
            self.tell_once(cause);
        }
        is_due
    }

    /// Whether this start has dropped the table: it is to be made anew, and then [`Rebuild::end`].
    pub fn is_due(&self) -> bool {
        self.is_due
    }

    /// Lets the next start drop the table, if an error tells of damage.
    pub fn tell(&self, error: &Error) {
        if let Some(cause) = open_advice::damage(error) {
            self.tell_once(cause);
        }
    }

    /// Tells the next start, because a file of the table is damaged.
    fn tell_once(&self, cause: &str) {
        if self.is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        match self.write() {
            Ok(()) => tracing::warn!(
                cause,
                "a file of the table {} is damaged; the next start drops the table, and reads rebuild it",
                self.table
            ),
            Err(error) => {
                self.is_told.store(false, Ordering::Relaxed);
                tracing::warn!(cause, %error, "a file of the table {} is damaged, and the file REBUILD, which tells the \
                    next start to drop the table, cannot be written", self.table);
            }
        }
    }

    fn write(&self) -> io::Result<()> {
        private_files::replace_file(&self.dir.join(NAME), format!("{}\n", self.table).as_bytes())
    }

    /// The name of the table.
    pub(crate) fn table(&self) -> &'static str {
        self.table
    }

    /// The table is made anew, durably.
    pub fn end(&self) -> Result<()> {
        private_files::remove_file(&self.dir.join(NAME)).map_err(|error| self.failed(&error))
    }

    /// Whether the files that an error names are those of the table.
    fn is_named(&self, db: &DB, error: &str) -> bool {
        let files = db.live_files().unwrap_or_default();
        let mut named = files.iter().filter(|file| error.contains(&file.name)).peekable();
        named.peek().is_some() && named.all(|file| file.column_family_name == self.table)
    }
}
