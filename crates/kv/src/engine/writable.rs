//! An open engine that takes writes: that of a server, or of a standby.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use rocksdb::{DB, ErrorKind, WriteBatch, WriteOptions};

use super::health::Health;
use super::log::{Flushed, Keeper, note};
use super::open::log_limit;
use super::rebuild::Rebuild;
use super::reserved_space::Reserve;
use crate::error::storage;
use crate::options::Options;
use model::error::Result;
use model::threads::Threads;

pub struct Opened {
    pub(crate) db: Arc<DB>,
    /// Whether it takes writes.
    pub health: Arc<Health>,
    /// The place up to which the log is on the device.
    pub(crate) flushed: Arc<Flushed>,
    /// The thread that looks after the log.
    pub(super) keeper: Mutex<Threads>,
    /// Bytes of log to keep for a standby, if [`Options::keeps_log`].
    pub(super) kept_log: Option<Arc<AtomicU64>>,
    /// Whether the next start makes a table anew. A standby makes a new copy instead.
    pub rebuild: Option<Arc<Rebuild>>,
}

impl Opened {
    /// Reserves room for the next start, opens the engine of a directory, and starts the thread that looks after its log.
    pub(super) fn open(
        dir: &Path,
        options: &Options,
        open: impl FnOnce(&Health) -> Result<(DB, Option<Rebuild>)>,
    ) -> Result<Self> {
        let health = Arc::new(Health::new(dir, options.min_free));
        let keep = || Reserve::for_start(dir, log_limit(options.write_buffer), options.min_free, &health);
        let mut reserve = options.keep_room.then(keep);
        let (db, rebuild) = open(&health)?;
        let rebuild = rebuild.map(Arc::new);
        if let Some(reserve) = &mut reserve {
            reserve.look(&health);
            if let Some(why) = health.owed() {
                tracing::warn!(cause = why, "changes are refused for lack of space");
            }
        }
        let db = Arc::new(db);
        let flushed = Arc::new(Flushed::new(db.latest_sequence_number()));
        // All of it, until the store knows its standbys.
        let kept_log = options.keeps_log.then(|| Arc::new(AtomicU64::new(u64::MAX)));
        let keeper = Keeper {
            db: Arc::clone(&db),
            flushed: Arc::clone(&flushed),
            health: Arc::clone(&health),
            rebuild: rebuild.clone(),
            reserve,
            archive: kept_log.clone(),
            sync: options.sync,
            noted: flushed.through(),
        };
        let mut threads = Threads::default();
        threads.start("log", move |stopped| keeper.run(stopped))?;
        Ok(Self { db, health, flushed, keeper: Mutex::new(threads), kept_log, rebuild })
    }

    /// Makes a write, if the health admits it. It is on the device when this returns if `sync`.
    pub(super) fn write(&self, mut batch: WriteBatch, sync: bool) -> Result<()> {
        let admitted = self.health.admit()?;
        let mut options = WriteOptions::default();
        options.set_sync(sync);
        let (before, rows) = (self.db.latest_sequence_number(), batch.len() as u64);
        batch.put_log_data(note(self.flushed.through()));
        match self.db.write_opt(batch, &options) {
            Ok(()) => {
                if sync {
                    // If nothing else was written meanwhile, these rows are the last ones in the log.
                    let after = self.db.latest_sequence_number();
                    self.flushed.raise(if after == before + rows { after } else { before });
                }
                admitted.succeeded();
                Ok(())
            }
            // An error in the write itself.
            Err(error) if error.kind() == ErrorKind::InvalidArgument => Err(storage(error)),
            Err(error) => {
                self.note(&error);
                Err(self.health.refused(&error.into_string()))
            }
        }
    }

    /// Ends the thread that looks after the log, which releases the engine.
    pub(super) fn end_keeper(&self) {
        drop(std::mem::take(&mut *self.keeper.lock()));
    }

    /// Flushes the log.
    pub(super) fn flush_log(&self) -> Result<(), rocksdb::Error> {
        let last = self.db.latest_sequence_number();
        self.db.flush_wal(true)?;
        self.flushed.raise(last);
        Ok(())
    }

    /// Records an error of the engine.
    pub(super) fn note(&self, error: &rocksdb::Error) {
        self.health.note(&self.db, self.rebuild.as_deref(), error);
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.end_keeper();
        self.db.cancel_all_background_work(true);
    }
}
