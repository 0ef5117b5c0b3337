//! Copies of the directory: checkpoints of the engine with a file `FORMAT`, and their check.

use std::io;
use std::path::Path;

use rocksdb::checkpoint::Checkpoint;
use rocksdb::properties;
use rustix::fs::statvfs;

use super::figures::figure;
use super::health::{NO_ROOM, least, room};
use super::{directory, log};
use crate::engine::disk::Disk;
use crate::error::storage;
use crate::kv::Kv;
use crate::options::ENGINE;
use model::error::{Code, Error, Result};
use model::private_files;

/// A copy of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The number of its format on disk.
    pub format: u32,
    /// The number of row changes in the store when the copy began.
    pub sequence: u64,
}

/// Free bytes for a copy besides the tables, the write buffers and the log: a manifest, and the ends of files.
const BESIDES: u64 = 16 << 20;

impl Disk {
    /// Makes a copy in `dir`, which must not exist, while others write. It has every change that was acknowledged
    /// before the call, whatever the durability, and the changes after that up to some instant. It is on the device
    /// when this returns. On one file system, table files are hard links, so that the copy takes room only as the
    /// tables change. Refused with `no_room` if the device could become full in this way. Once there is room,
    /// and before the copy, `write_before` writes rows that it shall have.
    pub fn copy_to(&self, dir: &Path, write_before: impl FnOnce() -> Result<()>) -> Result<Copied> {
        if self.health.has_ended() {
            return Err(Code::StorageStopped.into());
        }
        let above = dir.parent().unwrap_or(Path::new("."));
        room_for(above, bytes_to_copy(self)?, self.health.min_free)?;
        let failed = |e: io::Error| unwritten(dir, &e);
        private_files::make_dir(dir).map_err(failed)?;
        write_before()?;
        let sequence = self.db.latest_sequence_number();
        let checkpoint = Checkpoint::new(&*self.db).map_err(storage)?;
        // The engine writes its rows in memory to table files first, then links or copies and flushes all files. What
        // is written meanwhile is in the end of the log, which it copies last.
        checkpoint.create_checkpoint(dir.join(ENGINE)).map_err(|error| {
            self.note(&error);
            if error.as_ref().contains(NO_ROOM) { Code::NoRoom.into() } else { storage(error) }
        })?;
        log::cut(dir)?;
        // A standby must not have rows that a power cut takes from this store.
        self.sync()?;
        directory::write_format(dir).map_err(failed)?;
        Ok(Copied { format: directory::CURRENT, sequence })
    }
}

/// Free bytes that a copy may need. In time all tables may be rewritten while the copy still has the files of now,
/// so they count in full. Files that an earlier copy shares with the tables are among them.
fn bytes_to_copy(disk: &Disk) -> Result<u64> {
    let mut bytes = log::log_bytes(disk.path()) + BESIDES;
    for table in disk.tables() {
        bytes += figure(&disk.db, table, properties::LIVE_SST_FILES_SIZE)?;
        bytes += figure(&disk.db, table, properties::SIZE_ALL_MEM_TABLES)?;
    }
    Ok(bytes)
}

/// Fails with `no_room` unless this many bytes are free on the file system of `dir`, besides `min_free` or the smaller
/// bound of a small file system.
pub fn room_for(dir: &Path, bytes: u64, min_free: u64) -> Result<()> {
    let system = statvfs(dir).map_err(|e| unwritten(dir, &e.into()))?;
    let (free, all) = room(&system);
    let needed = bytes.saturating_add(least(min_free, all));
    if free >= needed {
        return Ok(());
    }
    let (needed, free, dir) = (needed.div_ceil(1 << 20), free >> 20, dir.display());
    Err(Error::refused(Code::NoRoom, format_args!("{needed} MiB must be free in {dir}, and {free} MiB are free")))
}

/// The error for a directory that could not be written.
fn unwritten(dir: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull => Error::refused(Code::NoRoom, format_args!("{}: {error}", dir.display())),
        _ => Error::Storage(format!("{}: {error}", dir.display())),
    }
}
