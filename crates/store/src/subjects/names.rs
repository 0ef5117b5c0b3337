//! Names both ways: to their numbers, and back.
//!
//! A change holds numbers for the names that it mentions first. It has their rows, and so has each other change that
//! mentions one of them, until one of these changes is written. So no change is on disk without its names, a name costs
//! no write of its own, and a refused change leaves no name.
//!
//! A change that failed is refused, too. It may stand in the engine's log; but then the engine takes no other change
//! until it has left that log behind. So its names are forgotten, and may get other numbers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
use model::store::{Hold, Tier};
use model::{CacheUsage, MAX_ID, Mentions, UserId};

const BYTES: fn(&Arc<str>) -> u64 = |name| 32 + name.len() as u64;
/// A UUID and its place in memory.
const USUAL: u64 = 68;
/// Most names written of late.
const MOST_RECENT: usize = 1024;

/// The part of names in memory.
pub(crate) struct Names {
    numbers: Numbering,
    /// Names by number. A name never changes, so no value is ever stale.
    names: Cache<u64, Arc<str>>,
    /// Locked to give the next number.
    pub(super) given: Mutex<Given>,
    /// Whether names are held for changes, so that most changes take no lock.
    has_wanted: AtomicBool,
    /// How often [`Given::recent`] was emptied.
    emptied: AtomicU64,
}

/// Names without written rows, and the next number.
pub(super) struct Given {
    /// The highest number given.
    highest: u64,
    /// The highest number on disk.
    pub(super) written: u64,
    /// Names written of late with their numbers, for changes that have looked for them before.
    recent: HashMap<Arc<str>, u64>,
    held: HashMap<Arc<str>, Held>,
    /// The names held for changes, by their numbers.
    wanted: BTreeMap<u64, Arc<str>>,
}

/// A number that is held for a name.
struct Held {
    number: u64,
    changes: usize,
    streams: usize,
    /// Writes under way that have the name's rows.
    writes: usize,
}

/// The rows of names in a change that is under way. The change has failed if this is dropped.
#[must_use = "the names are forgotten when this is dropped"]
pub(crate) struct NameRows {
    of: Arc<Names>,
    names: Vec<(u64, Arc<str>)>,
}

impl Names {
    pub(crate) fn new(memory: CacheMemory) -> Self {
        // The first number above those of hosts stays free.
        let given = Given {
            highest: MAX_ID + 1,
            written: MAX_ID + 1,
            recent: HashMap::new(),
            held: HashMap::new(),
            wanted: BTreeMap::new(),
        };
        Self {
            numbers: Numbering::new(NAMES, memory.of(Share::NUMBERS)),
            names: Cache::new(memory.of(Share::NAMES), USUAL, BYTES),
            given: Mutex::new(given),
            has_wanted: AtomicBool::new(false),
            emptied: AtomicU64::new(0),
        }
    }

    /// The caches in figures: numbers by name, then names by number.
    pub(crate) fn usage(&self) -> [CacheUsage; 2] {
        [self.numbers.usage(), self.names.usage()]
    }

    /// Forgets a name whose rows are removed.
    pub(crate) fn forget(&self, name: &str, number: u64) {
        self.given.lock().recent.remove(name);
        self.numbers.forget(name);
        self.names.remove(&number);
        // Whoever has looked for the number meanwhile looks again.
        self.emptied.fetch_add(1, Ordering::Release);
    }

    /// The rows of no names.
    pub(crate) fn none(self: &Arc<Self>) -> NameRows {
        NameRows { of: Arc::clone(self), names: Vec::new() }
    }
}

impl NameRows {
    /// The change is written.
    pub(crate) fn written(mut self) {
        let names = std::mem::take(&mut self.names);
        if names.is_empty() {
            return;
        }
        let mut given = self.of.given.lock();
        for (number, name) in names {
            given.held.remove(&name);
            given.wanted.remove(&number);
            given.written = given.written.max(number);
            self.of.numbers.remember(&name, number);
            self.of.names.insert(number, Arc::clone(&name));
            if given.keep_recent(name, number) {
                self.of.emptied.fetch_add(1, Ordering::Release);
            }
        }
        self.of.has_wanted.store(!given.wanted.is_empty(), Ordering::Release);
    }
}

impl Drop for NameRows {
    fn drop(&mut self) {
        if self.names.is_empty() {
            return;
        }
        let mut given = self.of.given.lock();
        self.names.iter().for_each(|(_, name)| given.end(name, |held| held.writes = held.writes.saturating_sub(1)));
        self.of.has_wanted.store(!given.wanted.is_empty(), Ordering::Release);
    }
}

impl Given {
    fn next(&mut self) -> Result<u64> {
        let next = Some(self.highest + 1).filter(|next| *next < UserId::UNKNOWN.get());
        self.highest = next.ok_or_else(|| Error::Corrupt("there are no more numbers for names".to_owned()))?;
        Ok(self.highest)
    }

    /// The number of a name without rows, held once more.
    fn hold(&mut self, name: &str, hold: Hold) -> Result<u64> {
        let name: Arc<str> = name.into();
        if !self.held.contains_key(&name) {
            let number = self.next()?;
            self.held.insert(Arc::clone(&name), Held { number, changes: 0, streams: 0, writes: 0 });
        }
        let held = self.held.get_mut(&name).ok_or_else(|| Error::Corrupt("a held name".to_owned()))?;
        match hold {
            Hold::Change => {
                held.changes += 1;
                self.wanted.insert(held.number, name);
            }
            Hold::Stream => held.streams += 1,
        }
        Ok(held.number)
    }

    /// Gives the numbers of refused names again. On a node one command comes after another, so nobody has seen them; and
    /// the numbers of names then depend only on the names that were written before, as on all nodes.
    pub(super) fn forget_unused(&mut self) {
        self.highest = self.held.values().map(|held| held.number).fold(self.written, u64::max);
    }

    /// Keeps a name that was written. Returns whether earlier ones were forgotten for it.
    fn keep_recent(&mut self, name: Arc<str>, number: u64) -> bool {
        let is_full = self.recent.len() >= MOST_RECENT;
        if is_full {
            self.recent.clear();
        }
        self.recent.insert(name, number);
        is_full
    }

    /// Ends one use of a held number, if it is not written yet.
    fn end(&mut self, name: &str, end: impl FnOnce(&mut Held)) {
        let Some(held) = self.held.get_mut(name) else { return };
        end(held);
        let (number, is_wanted, is_used) = (held.number, held.changes + held.writes > 0, held.streams > 0);
        if !is_wanted {
            self.wanted.remove(&number);
        }
        if !is_wanted && !is_used {
            self.held.remove(name);
        }
    }
}

impl Rocks {
    /// Continues after the highest number on disk.
    pub(crate) fn load_names(&self) -> Result<()> {
        let mut rows = self.rows(NAMES_BY_NUMBER, ReadOptions::default())?;
        rows.seek_to_last();
        rows.status()?;
        if let Some(number) = rows.key().and_then(keys::number) {
            let mut given = self.names.given.lock();
            given.highest = given.highest.max(number);
            given.written = given.written.max(number);
        }
        Ok(())
    }

    /// The highest number given.
    pub(crate) fn highest_number(&self) -> u64 {
        self.names.given.lock().highest
    }

    /// Adds to a change the rows of the names that it mentions, as far as they are not written yet. On a node, a change
    /// has the rows of all names that its command holds, so that all nodes give the same numbers.
    pub(crate) fn add_names(&self, change: &mut WriteBatch, mentioned: &(impl Mentions + ?Sized)) -> NameRows {
        let mut rows = self.names.none();
        if !self.names.has_wanted.load(Ordering::Acquire) {
            return rows;
        }
        let (by_name, by_number) = (NAMES, NAMES_BY_NUMBER);
        let mut given = self.names.given.lock();
        let names = &mut rows.names;
        match self.mark.get() {
            None => mentioned.mentions(&mut |number| {
                names.extend(given.wanted.get(&number).map(|name| (number, Arc::clone(name))));
            }),
            Some(_) => names.extend(given.wanted.iter().map(|(number, name)| (*number, Arc::clone(name)))),
        }
        names.sort_unstable();
        names.dedup();
        for (number, name) in names {
            change.put(by_name, name.as_bytes(), values::given(*number));
            change.put(by_number, keys::id(*number), name.as_bytes());
            if let Some(held) = given.held.get_mut(name) {
                held.writes += 1;
            }
        }
        drop(given);
        rows
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

    /// Holds the names that a look-up has not found. Before it began, names were forgotten `emptied` times.
    fn hold_found(&self, names: &[&str], mut found: Vec<Option<u64>>, emptied: u64, hold: Hold) -> Result<Vec<u64>> {
        if let Some(numbers) = found.iter().copied().collect() {
            return Ok(numbers);
        }
        let mut given = self.names.given.lock();
        // Some may be written by now.
        if self.names.emptied.load(Ordering::Acquire) != emptied {
            found = self.names.numbers.find_all(self, names)?;
        }
        let number_of = |(name, found): (&&str, Option<u64>)| match found.or_else(|| given.recent.get(*name).copied()) {
            Some(number) => Ok(number),
            None => given.hold(name, hold),
        };
        let numbers = names.iter().zip(found).map(number_of).collect();
        self.names.has_wanted.store(!given.wanted.is_empty(), Ordering::Release);
        numbers
    }
}

impl store::Names for Rocks {
    fn numbers(&self, names: &[&str], tier: Tier) -> Result<Vec<Option<u64>>> {
        if tier == Tier::Memory || names.len() == 1 {
            return names.iter().map(|name| self.names.numbers.find(self, name, tier)).collect();
        }
        self.names.numbers.find_all(self, names)
    }

    fn hold_numbers(&self, names: &[&str], hold: Hold) -> Result<Vec<u64>> {
        let emptied = self.names.emptied.load(Ordering::Acquire);
        let found = self.names.numbers.find_all(self, names)?;
        self.hold_found(names, found, emptied, hold)
    }

    fn release_numbers(&self, names: &[&str], hold: Hold) {
        if hold == Hold::Change && !self.names.has_wanted.load(Ordering::Acquire) {
            return;
        }
        let mut given = self.names.given.lock();
        for name in names {
            given.end(name, |held| match hold {
                Hold::Change => held.changes = held.changes.saturating_sub(1),
                Hold::Stream => held.streams = held.streams.saturating_sub(1),
            });
        }
        if self.mark.get().is_some() {
            given.forget_unused();
        }
        self.names.has_wanted.store(!given.wanted.is_empty(), Ordering::Release);
    }

    fn is_held(&self, name: &str) -> bool {
        let is_held = |held: &Held| held.changes + held.writes > 0;
        self.names.has_wanted.load(Ordering::Acquire) && self.names.given.lock().held.get(name).is_some_and(is_held)
    }

    fn reserved_number(&self, name: &str) -> Option<u64> {
        self.names.given.lock().held.get(name).filter(|held| held.streams > 0).map(|held| held.number)
    }

    fn write_names(&self, numbers: &[u64]) -> Result<()> {
        let mut change = WriteBatch::default();
        let names = self.add_names(&mut change, numbers);
        if change.is_empty() {
            return Ok(());
        }
        self.add_mark(&mut change);
        let after = |is_written| {
            if is_written {
                names.written()
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
