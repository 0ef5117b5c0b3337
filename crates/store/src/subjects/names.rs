//! Names both ways: to their numbers, and back.
//!
//! A name gets its number from a change that mentions it, and the next write of this change has its rows. A change that is
//! refused leaves no name.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rocksdb::ReadOptions;

use crate::Rocks;
use crate::memory::numbering::Numbering;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::{NAMES, NAMES_BY_NUMBER, Table};
use crate::rows::{keys, values};
use model::cache::Cache;
use model::cache::memory::{CacheMemory, Share};
use model::error::{Error, Result};
use model::store;
use model::store::Tier;
use model::{CacheUsage, MAX_ID, UserId};

const BYTES: fn(&Arc<str>) -> u64 = |name| 32 + name.len() as u64;
/// A UUID and its place in memory.
const USUAL: u64 = 68;

/// The part of names in memory.
pub(crate) struct Names {
    numbers: Numbering,
    /// Names by number. A name never changes, so no value is ever stale.
    names: Cache<u64, Arc<str>>,
    given: Mutex<Given>,
}

/// Numbers that were given.
struct Given {
    /// The highest one.
    highest: u64,
    /// Names of the present change that no write has, with their numbers: the highest ones.
    new: HashMap<Arc<str>, u64>,
}

impl Names {
    pub(crate) fn new(memory: CacheMemory) -> Self {
        Self {
            numbers: Numbering::new(NAMES, memory.of(Share::NUMBERS)),
            names: Cache::new(memory.of(Share::NAMES), USUAL, BYTES),
            // The first number above those of hosts stays free.
            given: Mutex::new(Given { highest: MAX_ID + 1, new: HashMap::new() }),
        }
    }

    /// The caches in figures: numbers by name, then names by number.
    pub(crate) fn usage(&self) -> [CacheUsage; 2] {
        [self.numbers.usage(), self.names.usage()]
    }

    /// Forgets a name whose rows are removed.
    pub(crate) fn forget(&self, name: &str, number: u64) {
        self.numbers.forget(name);
        self.names.remove(&number);
    }

    /// The highest number given.
    pub(crate) fn highest(&self) -> u64 {
        self.given.lock().highest
    }

    /// Goes on from a number, also back. No change may be under way.
    pub(crate) fn go_on_from(&self, highest: u64) {
        self.given.lock().highest = highest;
    }

    /// Ends a change: the numbers that no write has are given again.
    pub(crate) fn end_change(&self) {
        let mut given = self.given.lock();
        given.highest -= given.new.len() as u64;
        given.new.clear();
    }

    /// Keeps names that are written.
    pub(crate) fn written(&self, names: HashMap<Arc<str>, u64>) {
        for (name, number) in names {
            self.numbers.remember(&name, number);
            self.names.insert(number, name);
        }
    }
}

impl Given {
    fn give(&mut self, name: &str) -> Result<u64> {
        if let Some(number) = self.new.get(name) {
            return Ok(*number);
        }
        let next = Some(self.highest + 1).filter(|next| *next < UserId::UNKNOWN.get());
        self.highest = next.ok_or_else(|| Error::Corrupt("there are no more numbers for names".to_owned()))?;
        self.new.insert(name.into(), self.highest);
        Ok(self.highest)
    }
}

impl Rocks {
    /// Continues after the highest number on disk.
    pub(crate) fn load_names(&self) -> Result<()> {
        let mut rows = self.rows(NAMES_BY_NUMBER, ReadOptions::default())?;
        rows.seek_to_last();
        rows.status()?;
        if let Some(number) = rows.key().and_then(keys::number) {
            self.names.go_on_from(self.names.highest().max(number));
        }
        Ok(())
    }

    /// Adds to a write of a change the rows of the names that got numbers for it, and returns these names.
    pub(crate) fn add_names(&self, change: &mut WriteBatch) -> HashMap<Arc<str>, u64> {
        let new = std::mem::take(&mut self.names.given.lock().new);
        for (name, number) in &new {
            change.put(NAMES, name.as_bytes(), values::given(*number));
            change.put(NAMES_BY_NUMBER, keys::id(*number), name.as_bytes());
        }
        new
    }

    /// What `read` makes of the first `limit` rows of a table of texts whose keys begin with `text`. `Corrupt` where it makes
    /// nothing.
    pub(crate) fn rows_beginning<T>(
        &self,
        table: Table,
        text: &str,
        limit: usize,
        read: impl Fn(&[u8], &[u8]) -> Option<T>,
    ) -> Result<Vec<T>> {
        let mut rows = self.rows(table, ReadOptions::default())?;
        let mut found = Vec::new();
        rows.seek(text.as_bytes());
        while let Some((key, value)) = rows.item().filter(|(key, _)| key.starts_with(text.as_bytes())) {
            if found.len() == limit {
                break;
            }
            found.push(read(key, value).ok_or_else(|| Error::Corrupt(format!("a row of {table}")))?);
            rows.next();
        }
        rows.status()?;
        Ok(found)
    }
}

impl store::Names for Rocks {
    fn numbers(&self, names: &[&str], tier: Tier) -> Result<Vec<Option<u64>>> {
        if tier == Tier::Memory || names.len() == 1 {
            return names.iter().map(|name| self.names.numbers.find(self, name, tier)).collect();
        }
        self.names.numbers.find_all(self, names)
    }

    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>> {
        let found = self.names.numbers.find_all(self, names)?;
        if let Some(numbers) = found.iter().copied().collect() {
            return Ok(numbers);
        }
        let mut given = self.names.given.lock();
        names.iter().zip(found).map(|(name, found)| found.map_or_else(|| given.give(name), Ok)).collect()
    }

    fn write_names(&self) -> Result<()> {
        let mut change = WriteBatch::default();
        let (new, names) = (self.add_names(&mut change), Arc::clone(&self.names));
        if new.is_empty() {
            return Ok(());
        }
        let after = move |is_written| {
            if is_written {
                names.written(new);
            }
        };
        self.put(None, change, false, Box::new(after))
    }

    fn names_beginning(&self, text: &str, limit: usize) -> Result<Vec<(Arc<str>, u64)>> {
        self.rows_beginning(NAMES, text, limit, |name, number| {
            Some((std::str::from_utf8(name).ok()?.into(), values::read_given(number).ok()?))
        })
    }

    fn names(&self, numbers: &[u64], tier: Tier) -> Result<Vec<Arc<str>>> {
        let mut names: Vec<_> = numbers.iter().map(|number| self.names.names.get(number)).collect();
        let missed: Vec<_> = (0..numbers.len()).filter(|place| names[*place].is_none()).collect();
        if !missed.is_empty() {
            let rows = self.get_many(NAMES_BY_NUMBER, missed.iter().map(|place| keys::id(numbers[*place])), tier)?;
            for (place, row) in missed.into_iter().zip(rows) {
                let number = numbers[place];
                let text = row.as_deref().and_then(|row| std::str::from_utf8(row).ok());
                let name: Arc<str> = text.ok_or_else(|| Error::Corrupt(format!("number {number} has no name")))?.into();
                if row.is_some_and(|row| row.is_written()) {
                    self.names.names.insert(number, Arc::clone(&name));
                }
                names[place] = Some(name);
            }
        }
        Ok(names.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests;
