//! Copies of the directory: checkpoints of the engine with a file `FORMAT`, and their check.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rocksdb::checkpoint::Checkpoint;
use rocksdb::properties;
use rustix::fs::statvfs;

use super::health::{NO_ROOM, least, room};
use super::{directory, log};
use crate::engine::disk::Disk;
use crate::kv::Kv;
use crate::rows::tables;
use crate::{FORMAT, Options, Store, storage};
use model::cache::memory::CacheMemory;
use model::error::{Code, Error, Result};
use model::failpoint;
use model::failpoint::Failpoint;
use model::store::{Copied, Watch};
use model::{priority, private};

/// The folder of the engine's files in a data directory.
const ENGINE: &str = "db";
/// Free bytes for a copy besides the tables, the write buffers and the log: a manifest, and the ends of files.
const BESIDES: u64 = 16 << 20;
/// Memory for the caches of a copy that is checked.
const CACHES: CacheMemory = CacheMemory::new(32 << 20);
/// Memory for the rows that its log replays, bytes.
const WRITE_BUFFER: usize = 16 << 20;
/// Most open table files of a copy that is checked.
const OPEN_FILES: i32 = 64;
/// The interval of reports about the rows read.
const ROWS: u64 = 10_000;

impl Store {
    /// Makes a copy in `dir`, which must not exist, while others write. It has every change that was acknowledged
    /// before the call, whatever the durability, and the changes after that up to some instant. It is on the device
    /// when this returns. On one file system, table files are hard links, so that the copy takes room only as the
    /// tables change. Refused with `no_room` if the device could become full in this way.
    pub fn copy_to(&self, dir: &Path) -> Result<Copied> {
        let disk = self.disk()?;
        if disk.health.has_ended() {
            return Err(Code::StorageStopped.into());
        }
        let above = dir.parent().unwrap_or(Path::new("."));
        room_for(above, disk.bytes_to_copy()?, disk.health.min_free)?;
        let failed = |e: io::Error| unwritten(dir, &e);
        private::make_dir(dir).map_err(failed)?;
        // Without this the copy has more jobs instead.
        self.write_arrivals()?;
        let sequence = disk.db.latest_sequence_number();
        let checkpoint = Checkpoint::new(&*disk.db).map_err(storage)?;
        // The engine writes its rows in memory to table files first, then links or copies and flushes all files. What
        // is written meanwhile is in the end of the log, which it copies last.
        checkpoint.create_checkpoint(dir.join(ENGINE)).map_err(|error| {
            disk.note(&error);
            if error.as_ref().contains(NO_ROOM) { Code::NoRoom.into() } else { storage(error) }
        })?;
        log::cut(dir)?;
        // A standby must not have rows that a power cut takes from this store.
        disk.sync()?;
        directory::write_format(dir).map_err(failed)?;
        Ok(Copied { format: FORMAT, sequence })
    }

    /// Reads each row of a copy, and audits the copy like [`Store::audit`]. Works on `scratch`, which must not exist
    /// and is removed afterwards; the copy stays as it is. Lowers the priority of the calling thread for good. Fails
    /// if the copy cannot be opened or read.
    pub fn check_copy(&self, copy: &Path, scratch: &Path, watch: &mut dyn Watch) -> Result<()> {
        priority::lower(priority::CHECKS);
        let checked = link(copy, scratch).map_err(|e| unwritten(scratch, &e)).and_then(|()| {
            let store = Store::open(&Options {
                sync: false,
                whole_log: true,
                compacts: false,
                loads: false,
                cache_memory: CACHES,
                write_buffer: WRITE_BUFFER,
                max_open_files: OPEN_FILES,
                ..Options::new(scratch)
            })?;
            failpoint::pass(Failpoint::BackupOpened);
            store.read_all(watch)?;
            store.audit(watch)
        });
        fs::remove_dir_all(scratch).map_err(|e| unwritten(scratch, &e))?;
        checked
    }
}

impl Disk {
    /// Free bytes that a copy may need. In time all tables may be rewritten while the copy still has the files of now,
    /// so they count in full. Files that an earlier copy shares with the tables are among them.
    fn bytes_to_copy(&self) -> Result<u64> {
        let mut bytes = log::log_bytes(self.path()) + BESIDES;
        for table in tables::ALL {
            bytes += self.figure(table, properties::LIVE_SST_FILES_SIZE)?;
            bytes += self.figure(table, properties::SIZE_ALL_MEM_TABLES)?;
        }
        Ok(bytes)
    }
}

impl Store {
    /// Reads each row of each table, which verifies the checksums of all blocks.
    fn read_all(&self, watch: &mut dyn Watch) -> Result<()> {
        for table in tables::ALL {
            let mut rows = self.whole(table)?;
            rows.seek_to_first();
            let mut count = 0;
            while rows.item().is_some() {
                count += 1;
                if count % ROWS == 0 {
                    watch.looked_at(table.name, count)?;
                }
                rows.next();
            }
            rows.status()?;
            watch.looked_at(table.name, count)?;
        }
        Ok(())
    }
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

/// Makes a directory with the files of a copy that may be written to: table files, which never change, are links.
fn link(copy: &Path, scratch: &Path) -> io::Result<()> {
    let (from, to) = (copy.join(ENGINE), scratch.join(ENGINE));
    private::make_dirs(&to)?;
    fs::copy(copy.join(directory::FORMAT_FILE), scratch.join(directory::FORMAT_FILE))?;
    for entry in fs::read_dir(from)? {
        let (source, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        let target = to.join(name);
        let is_table = source.extension() == Some(OsStr::new("sst"));
        if !is_table || fs::hard_link(&source, &target).is_err() {
            fs::copy(&source, &target)?;
        }
    }
    File::open(scratch)?.sync_all()
}
