//! A thread that flushes the log, writes a note when no other write does, keeps the reserve for a start, and removes log
//! that is kept for a standby.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError};
use rocksdb::{DB, WriteBatch};

use super::files::trim_archive;
use super::flushed::{Flushed, note};
use crate::engine::health::{Health, is_tight};
use crate::engine::rebuild::Rebuild;
use crate::engine::reserved_space::Reserve;

/// The interval of the thread. The newest change may be without a note of its flush for twice as long.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Keeps the log of an open engine, the reserve, and so many bytes of the archive of the log. With `sync`, changes flush the log
/// themselves, and the thread only flushes and notes the end of a quiet log; without, it flushes the log in each round that finds
/// something new.
pub(crate) struct Keeper {
    pub(crate) db: Arc<DB>,
    pub(crate) flushed: Arc<Flushed>,
    pub(crate) health: Arc<Health>,
    pub(crate) rebuild: Option<Arc<Rebuild>>,
    pub(crate) reserve: Option<Reserve>,
    pub(crate) archive: Option<Arc<AtomicU64>>,
    pub(crate) sync: bool,
    /// The last row up to which a note vouches: at the start, of before the first write.
    pub(crate) noted: u64,
}

impl Keeper {
    /// Works until it is to stop. Then it releases the engine.
    pub(crate) fn run(self, stopped: &Receiver<()>) {
        let Self { db, flushed, health, rebuild, mut reserve, archive, sync, mut noted } = self;
        let mut latest = db.latest_sequence_number();
        while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            let before = std::mem::replace(&mut latest, db.latest_sequence_number());
            let is_quiet = latest == before;
            if let Some(reserve) = &mut reserve {
                reserve.look(&health);
            }
            let most = archive.as_ref().map(|most| most.load(Ordering::Relaxed));
            if let Some(most) = most.filter(|most| *most < u64::MAX) {
                // Changes need the room more: a standby can make a new copy.
                trim_archive(db.path(), if is_tight(db.path(), health.min_free) { 0 } else { most });
            }
            // An engine without room is left alone: its own flush needs the room.
            if noted == latest || !health.takes_writes() || (sync && !is_quiet) {
                continue;
            }
            if flushed.through() < latest {
                match db.flush_wal(true) {
                    Ok(()) => flushed.raise(latest),
                    Err(error) => health.note(&db, rebuild.as_deref(), &error),
                }
            }
            if is_quiet && flushed.through() == latest {
                // A batch with only a note. It need not be flushed: a power cut that loses it loses nothing.
                let mut batch = WriteBatch::default();
                batch.put_log_data(note(latest));
                if db.write(batch).is_ok() {
                    noted = latest;
                }
            }
        }
    }
}
