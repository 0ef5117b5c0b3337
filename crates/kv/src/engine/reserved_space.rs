//! Room on the device that is reserved for a start.
//!
//! A start writes out the rows of the log and needs room for them. A file in the data directory reserves it, as a full
//! device has none. A start that finds too little room removes the file; changes then wait until there is room for the
//! file again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate, statvfs};

use super::health::{Health, least, room};
use super::log::log_bytes;
use crate::options::ENGINE;

/// The file. Its content means nothing.
const NAME: &str = "RESERVE";
/// Bytes that a start needs besides the rows of the log: a manifest, the heads of tables, the beginning of a log.
const BESIDES: u64 = 8 << 20;
/// At most this part of a small file system is reserved.
const SYSTEM_PART: u64 = 4;

/// The room for a start.
#[derive(Debug)]
pub(crate) struct Reserve {
    file: PathBuf,
    /// Bytes to reserve.
    size: u64,
    /// Least free bytes in addition, from the settings.
    min_free: u64,
    held: bool,
}

impl Reserve {
    /// Removes the file if a start has too little room without that. `log_limit` is the limit of the log's size. Tells
    /// `health` whether changes have to wait for the file.
    pub(crate) fn for_start(dir: &Path, log_limit: u64, min_free: u64, health: &Health) -> Self {
        let file = dir.join(NAME);
        let mut held = file.exists();
        let (free, all) = statvfs(dir).as_ref().map_or((u64::MAX, u64::MAX), room);
        let size = (log_limit + BESIDES).min(all / SYSTEM_PART);
        let needed = (log_bytes(&dir.join(ENGINE)) + BESIDES).min(size);
        if free < needed && held {
            let (free, needed) = (free >> 20, needed.div_ceil(1 << 20));
            tracing::warn!(
                free_mib = free,
                needed_mib = needed,
                "the device is full; this start uses the space reserved in the file RESERVE"
            );
            held = fs::remove_file(&file).is_err();
        }
        // Until the file is there: an earlier start may have removed it, too.
        health.set_owed((!held).then_some((0, 0)));
        Self { file, size, min_free, held }
    }

    /// Reserves the room again, if it is not reserved and enough is free. Call it now and then.
    pub(crate) fn look(&mut self, health: &Health) {
        if self.held {
            return;
        }
        let Some(dir) = self.file.parent() else { return };
        let Ok(system) = statvfs(dir) else { return };
        let (free, all) = room(&system);
        let needed = self.size + least(self.min_free, all);
        health.set_owed(Some((free, needed)));
        if free < needed {
            return;
        }
        match self.take() {
            Ok(()) => self.held = true,
            Err(error) if error.kind() == io::ErrorKind::StorageFull => return,
            // There is nothing to wait for if the file system cannot reserve, or the user lacks the permission.
            Err(error) => {
                tracing::warn!(%error,
                    "the file RESERVE could not be created: no space is reserved for a start on a full device");
                self.held = true;
            }
        }
        health.set_owed(None);
    }

    fn take(&self) -> io::Result<()> {
        let file = File::create(&self.file)?;
        let taken = fallocate(&file, FallocateFlags::empty(), 0, self.size).map_err(io::Error::from);
        if taken.is_err() {
            // A part of the file only takes room.
            let _ = fs::remove_file(&self.file);
        }
        taken
    }
}
