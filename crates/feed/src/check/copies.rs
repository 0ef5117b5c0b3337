//! The check of a copy of the directory.

use std::fs;
use std::path::Path;

use super::audit::audit;
use crate::check::{Watch, each_row};
use crate::rows::tables;
use crate::store::{Options, Store};
use kv::{Scope, Tier};
use model::cache::memory::CacheMemory;
use model::error::{Error, Result};
use model::failpoint::Failpoint;
use model::{failpoint, priority};

/// Memory for the caches of a copy that is checked.
const CACHES: CacheMemory = CacheMemory::new(32 << 20);
/// Memory for the rows that its log replays, bytes.
const WRITE_BUFFER: usize = 16 << 20;
/// Most open table files of a copy that is checked.
const OPEN_FILES: i32 = 64;

/// Reads each row of a copy, and audits the copy like [`audit`](crate::check::audit). Works on `scratch`, which must not exist
/// and is removed afterwards; the copy stays as it is. Lowers the priority of the calling thread for good. Fails if the copy
/// cannot be opened or read.
pub fn check_copy(copy: &Path, scratch: &Path, watch: &mut dyn Watch) -> Result<()> {
    priority::lower(priority::CHECKS);
    let checked = kv::link(copy, scratch).and_then(|()| {
        let options = Options { loads: false, ..Options::new(scratch) };
        let store = Store::open(&options.with(|engine| {
            engine.sync = false;
            engine.whole_log = true;
            engine.compacts = false;
            engine.cache_memory = CACHES;
            engine.write_buffer = WRITE_BUFFER;
            engine.max_open_files = OPEN_FILES;
        }))?;
        failpoint::pass(Failpoint::BackupOpened);
        read_all(&store, watch)?;
        audit(&store, watch)
    });
    fs::remove_dir_all(scratch).map_err(|e| Error::Storage(format!("{}: {e}", scratch.display())))?;
    checked
}

/// Reads each row of each table, which verifies the checksums of all blocks.
fn read_all(store: &Store, watch: &mut dyn Watch) -> Result<()> {
    for table in tables::ALL {
        let mut rows = store.now(Tier::Disk).rows(table, Scope::Once)?;
        rows.seek_to_first();
        each_row(table, rows, watch, |_, _| Ok(()))?;
    }
    Ok(())
}
