//! The check of a copy of the directory.

use std::path::Path;

use super::audit::audit;
use crate::check::{Watch, each_row};
use crate::rows::tables;
use crate::store::{Options, Store};
use kv::{Scope, Tier};
use model::cache::memory::CacheMemory;
use model::error::Result;
use model::failpoint::Failpoint;
use model::{failpoint, priority};

/// Memory for the caches of a copy that is checked.
const CACHES: CacheMemory = CacheMemory::new(32 << 20);
/// Most open table files of a copy that is checked.
const OPEN_FILES: i32 = 64;

/// Reads each row of a copy, and audits the copy like [`audit`](crate::check::audit). The copy stays as it is. Lowers the priority
/// of the calling thread for good. Fails if the copy cannot be opened or read.
pub fn check_copy(copy: &Path, watch: &mut dyn Watch) -> Result<()> {
    priority::lower(priority::CHECKS);
    let options = Options::new(copy).with(|engine| {
        engine.whole_log = true;
        engine.cache_memory = CACHES;
        engine.max_open_files = OPEN_FILES;
    });
    let store = Store::read(&options, |_| true)?;
    failpoint::pass(Failpoint::BackupOpened);
    read_all(&store, watch)?;
    audit(&store, watch)
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
