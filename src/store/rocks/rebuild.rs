//! The table of inboxes follows from the others. If one of its files is damaged, the next start drops it and makes it
//! anew, instead of a restore.
//!
//! The file `REBUILD` tells the next start. It is there until all inboxes claim nothing: their users are evicted, and
//! the next read of each rebuilds the inbox. So a start that ends earlier is repeated.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rocksdb::WriteBatch;

use super::health::Health;
use super::tables::{ACTIVITY, FOLLOWING, INBOXES};
use super::{Rocks, keys, values};
use crate::error::{Error, Result};
use crate::failpoint::Write;
use crate::model::Activity;
use crate::store::{Activities, Tier, Upkeep};

/// The file.
const NAME: &str = "REBUILD";
/// Users in one change.
const USERS: usize = 1000;

/// Whether the table of inboxes is to be made anew.
#[derive(Debug)]
pub(super) struct Rebuild {
    dir: PathBuf,
    /// By this start.
    is_due: bool,
    /// By the next start.
    is_told: AtomicBool,
}

impl Rebuild {
    /// Looks whether an earlier run has told this start, which leaves it to a later one if it cannot write.
    pub(super) fn look(dir: &Path, health: &Health) -> Self {
        let is_due = dir.join(NAME).exists() && health.takes_writes();
        Self { dir: dir.to_owned(), is_due, is_told: AtomicBool::new(false) }
    }

    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Tells the next start.
    fn tell(&self) -> io::Result<()> {
        let mut file = File::create(self.dir.join(NAME))?;
        writeln!(file, "{INBOXES}")?;
        file.sync_all()?;
        File::open(&self.dir)?.sync_all()
    }

    fn end(&self) -> io::Result<()> {
        fs::remove_file(self.dir.join(NAME))?;
        File::open(&self.dir)?.sync_all()
    }
}

impl Rocks {
    /// Records an error of the engine.
    pub(super) fn note(&self, error: &rocksdb::Error) {
        if self.health.note(error) && self.is_of_inboxes(error.as_ref()) {
            self.rebuild_inboxes_later(error.as_ref());
        }
    }

    /// Whether an error names a file of the table of inboxes.
    fn is_of_inboxes(&self, error: &str) -> bool {
        let files = self.db.live_files().unwrap_or_default();
        files.iter().any(|file| file.column_family_name == INBOXES.name && error.contains(&file.name))
    }

    /// Lets the next start make the table of inboxes anew, because a file of it is damaged: a compaction of this file
    /// stops the engine.
    pub(super) fn rebuild_inboxes_later(&self, cause: &str) {
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
    pub(super) fn finish_rebuild(&self) -> Result<()> {
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
                    batch.put_cf(self.family(ACTIVITY)?, keys::id(user.get()), values::activity(Activity::Evicted));
                }
            }
            evicted += announced.len();
            self.follow_up(Write::Evict, batch)?;
        }
        self.sync()?;
        let failed = |e: io::Error| Error::Setup(format!("{}: {NAME}: {e}", self.rebuild.dir.display()));
        self.rebuild.end().map_err(failed)?;
        tracing::info!(users = evicted, "all inboxes are dropped");
        Ok(())
    }
}
