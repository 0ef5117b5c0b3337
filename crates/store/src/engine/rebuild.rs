//! The table of inboxes follows from the others. If one of its files is damaged, the next start drops it and makes it
//! anew, instead of a restore.
//!
//! The file `REBUILD` tells the next start. It is there until all inboxes claim nothing: their users are evicted, and
//! the next read of each rebuilds the inbox. So a start that ends earlier is repeated. A start that finds itself that the
//! engine cannot open a file of the table goes the same way.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rocksdb::DB;

use super::{advice, log};
use crate::rows::batch::WriteBatch;
use crate::rows::tables::{ACTIVITY, FOLLOWING, INBOXES};
use crate::rows::{keys, values};
use crate::{Rocks, storage};
use model::Activity;
use model::error::{Error, Result};
use model::failpoint::Write;
use model::private;
use model::store::{Activities, Tier, Upkeep};

/// The file.
const NAME: &str = "REBUILD";
/// Users in one change.
const USERS: usize = 1000;

/// How the engine is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// As usual.
    Usual,
    /// Without compactions, which would stop at damage.
    Quiet,
    /// Without compactions, and although it cannot open some files. It then passes over damage of its log, too.
    Lenient,
}

/// The result of an opening.
type Opened = Result<DB, rocksdb::Error>;

/// Whether the table of inboxes is to be made anew.
#[derive(Debug)]
pub(crate) struct Rebuild {
    dir: PathBuf,
    may_drop: bool,
    /// By this start.
    is_due: bool,
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

    fn failed(&self, error: &io::Error) -> Error {
        Error::Setup(format!("{}: {NAME}: {error}", self.dir.display()))
    }

    /// Tells the next start.
    fn tell(&self) -> io::Result<()> {
        fs::write(self.dir.join(NAME), format!("{INBOXES}\n"))?;
        File::open(self.dir.join(NAME))?.sync_all()?;
        private::flush_names(&self.dir)
    }

    fn end(&self) -> io::Result<()> {
        fs::remove_file(self.dir.join(NAME))?;
        private::flush_names(&self.dir)
    }
}

impl Rocks {
    /// Records an error of the engine.
    pub(crate) fn note(&self, error: &rocksdb::Error) {
        if self.health.note(error) && names_inboxes(&self.db, error.as_ref()) {
            self.rebuild_inboxes_later(error.as_ref());
        }
    }

    /// The error for a reader of whole tables. Damage of inboxes needs no restore.
    pub(crate) fn failure(&self, error: rocksdb::Error) -> Error {
        if !advice::is_damage(&error) || !names_inboxes(&self.db, error.as_ref()) {
            return storage(error);
        }
        self.rebuild_inboxes_later(error.as_ref());
        Error::Storage(format!("a file of the table inboxes is damaged; the next start drops the table: {error}"))
    }

    /// Lets the next start make the table of inboxes anew, because a file of it is damaged: a compaction of this file
    /// stops the engine.
    pub(crate) fn rebuild_inboxes_later(&self, cause: &str) {
        if self.rebuild.is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        match self.rebuild.tell() {
            Ok(()) => tracing::warn!(
                cause,
                "a file of the table inboxes is damaged; the next start drops the table, and reads rebuild it"
            ),
            Err(error) => {
                self.rebuild.is_told.store(false, Ordering::Relaxed);
                tracing::warn!(cause, %error, "a file of the table inboxes is damaged, and the file REBUILD, which \
                    tells the next start to drop the table, cannot be written");
            }
        }
    }

    /// After a start that dropped the table of inboxes: evicts all users who follow somebody. The inboxes of all others
    /// are rightly empty.
    pub(crate) fn finish_rebuild(&self) -> Result<()> {
        if !self.rebuild.is_due {
            return Ok(());
        }
        tracing::warn!(
            "the table inboxes had a damaged file and was dropped; pages stay right, and the next read of each \
            user rebuilds the inbox"
        );
        let (mut after, mut evicted) = (None, 0);
        loop {
            let users = self.partitions_after(FOLLOWING, after, USERS)?;
            let Some(last) = users.last() else { break };
            after = Some(*last);
            let (mut batch, mut announced) = (WriteBatch::default(), Vec::new());
            for user in users {
                if self.activity(user, Tier::Disk)?.has_inbox() {
                    announced.push(self.activities.change(user));
                    batch.put(ACTIVITY, keys::id(user.get()), values::activity(Activity::Evicted));
                }
            }
            evicted += announced.len();
            self.follow_up(Write::Evict, batch)?;
        }
        self.sync()?;
        self.rebuild.end().map_err(|e| self.rebuild.failed(&e))?;
        tracing::info!(users = evicted, "all inboxes are dropped");
        Ok(())
    }
}

/// Whether the files that an error names are those of the table of inboxes.
fn names_inboxes(db: &DB, error: &str) -> bool {
    let files = db.live_files().unwrap_or_default();
    let mut named = files.iter().filter(|file| error.contains(&file.name)).peekable();
    named.peek().is_some() && named.all(|file| file.column_family_name == INBOXES.name)
}
