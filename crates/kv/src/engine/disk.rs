//! RocksDB in a data directory.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::directory::Directory;
use super::last_run::Run;
use super::log::{self, trim_archive};
use super::rebuild::Rebuild;
use super::writable::Opened;
use super::{figures, open, open_advice, rows};
use crate::batch::Change;
use crate::error::storage;
use crate::family::{Family, Schema};
use crate::kv::Kv;
use crate::options::Options;
use crate::view::{Snapshot, View};
use crate::{TableStats, Usage};
use model::error::{Error, Result};
use model::failpoint::{self, Failpoint};
use model::private_files;

/// An open data directory.
pub struct Disk {
    engine: Opened,
    /// The end of the last run, and this one.
    pub run: Run,
    /// See [`Options::write_buffer`].
    write_buffer: usize,
    schema: Arc<dyn Schema>,
    /// Released last: fields drop in order.
    _directory: Directory,
}

impl Deref for Disk {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.engine
    }
}

impl Disk {
    /// Opens a data directory, or makes one. Fails with a clear message if another process holds it or its format is
    /// unknown.
    pub(crate) fn open(options: &Options, schema: &Arc<dyn Schema>) -> Result<Self> {
        let directory = Directory::claim(&options.dir)?;
        failpoint::pass(Failpoint::StartClaimed);
        let is_fresh = directory.is_fresh()?;
        if options.whole_log {
            log::must_be_whole(&options.dir)?;
        }
        let loses = !is_fresh && log::prepare(&options.dir, options.accept_log_loss)?;
        let run = Run::look(&options.dir, is_fresh, loses, options.sync);
        let opens = |how| open::open(options, schema, &directory.engine(), how, (is_fresh, loses));
        let engine = Opened::open(&options.dir, options, |health| {
            let mut rebuild = Rebuild::look(&options.dir, &**schema, !options.whole_log && health.takes_writes());
            let db = rebuild.open(opens)?.map_err(|error| open_advice::cannot_open(&options.dir, &error))?;
            Ok((db, Some(rebuild)))
        })?;
        directory.created()?;
        if is_fresh {
            tracing::info!(data_dir = %options.dir.display(), "a new data directory was made");
        } else if private_files::admits_all(&options.dir) && private_files::admits_all(&directory.engine()) {
            tracing::warn!(data_dir = %options.dir.display(),
                "every user of this machine may read the data; chmod o= the data directory");
        }
        Ok(Self { engine, run, write_buffer: options.write_buffer, schema: Arc::clone(schema), _directory: directory })
    }

    /// The path of the engine's files.
    pub(crate) fn path(&self) -> &Path {
        self.db.path()
    }

    /// Writes all in memory to table files, so that the next start has nothing to replay. No write comes after it.
    pub(crate) fn stop(&self) {
        self.end_keeper();
        match self.flush() {
            Ok(()) => self.run.stop(),
            Err(error) => {
                tracing::warn!(%error,
                    "the write buffers could not be written to table files; the next start replays the write-ahead \
                     log");
            }
        }
        failpoint::pass(Failpoint::StopFlushed);
    }

    /// Takes all writes so far from the log into the files of the tables.
    pub(crate) fn flush(&self) -> Result<()> {
        rows::flush(&self.db, self.tables()).map_err(|error| {
            self.note(&error);
            self.failure(storage(error))
        })
    }

    /// The error for a reader of whole tables. Damage of a table that can be dropped needs no restore.
    pub fn failure(&self, error: Error) -> Error {
        let cause = open_advice::damage(&error);
        match cause.zip(self.rebuild.as_ref()).filter(|(cause, rebuild)| rebuild.tell_if_due(&self.db, cause)) {
            Some((cause, rebuild)) => Error::Storage(format!(
                "a file of the table {} is damaged; the next start drops the table: {cause}",
                rebuild.table()
            )),
            None => error,
        }
    }
}

impl Kv for Disk {
    fn tables(&self) -> &[&'static Family] {
        self.schema.families()
    }

    fn now(&self) -> View<'_> {
        View::now(&self.db)
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot::of(&self.db)
    }

    fn write(
        &self,
        changes: &mut dyn Iterator<Item = (&'static Family, Change<'_>)>,
        bytes: usize,
        sync: bool,
    ) -> Result<()> {
        self.engine.write(rows::batch(&self.db, changes, bytes)?, sync)
    }

    fn sync(&self) -> Result<()> {
        self.flush_log().map_err(storage)
    }

    fn compact(&self) -> Result<()> {
        self.flush()?;
        rows::compact(&self.db, self.tables())?;
        // Log that earlier runs have kept for standbys has the removed rows, too.
        if self.kept_log.as_ref().is_none_or(|bytes| bytes.load(Ordering::Relaxed) == 0) {
            trim_archive(self.path(), 0);
        }
        Ok(())
    }

    fn size(&self, table: &'static Family) -> Result<TableStats> {
        figures::size(&self.db, table)
    }

    fn usage(&self) -> Result<Usage> {
        figures::usage(&self.engine, self.tables(), self.write_buffer)
    }

    fn refused(&self, cause: &str) -> Error {
        self.health.refused(cause)
    }
}
