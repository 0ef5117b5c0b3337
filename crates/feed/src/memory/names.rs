//! Names both ways, in memory: their numbers, and back.

use std::sync::Arc;

use super::numbers::Numbers;
use crate::rows::keys;
use crate::rows::tables::{NAMES, NAMES_BY_NUMBER};
use kv::{Database, Scope, Tier};
use model::cache::Cache;
use model::cache::memory::{CacheMemory, Share};
use model::error::Result;
use model::{CacheUsage, MAX_ID};

const BYTES: fn(&Arc<str>) -> u64 = |name| 32 + name.len() as u64;
/// A UUID and its place in memory.
const USUAL: u64 = 68;

/// The part of names in memory.
pub(crate) struct Names {
    pub(crate) numbers: Numbers,
    /// Names by number. A name never changes, so no value is ever stale.
    pub(crate) names: Cache<u64, Arc<str>>,
}

impl Names {
    pub(crate) fn new(memory: CacheMemory) -> Self {
        Self {
            // The first number above those of hosts stays free.
            numbers: Numbers::new(&NAMES, memory.of(Share::NUMBERS), MAX_ID + 1, None),
            names: Cache::new(memory.of(Share::NAMES), USUAL, BYTES),
        }
    }

    /// The caches in figures: numbers by name, then names by number.
    pub(crate) fn usage(&self) -> [CacheUsage; 2] {
        [self.numbers.usage(), self.names.usage()]
    }

    /// Continues after the highest number on disk.
    pub(crate) fn load(&self, database: &Database) -> Result<()> {
        let mut rows = database.now(Tier::Disk).rows(&NAMES_BY_NUMBER, Scope::Table)?;
        rows.seek_to_last();
        rows.status()?;
        if let Some(number) = rows.key().and_then(keys::number) {
            self.numbers.go_on_from(number.max(self.numbers.highest()));
        }
        Ok(())
    }
}
