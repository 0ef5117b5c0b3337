//! Names both ways: to their numbers, and back.
//!
//! A name gets its number in memory. Its rows are written with the next change, which may be that of another caller, and
//! with every change until one of these is written. So the change that mentions a name first is never on disk without
//! the name, and costs no write more.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use rocksdb::{ReadOptions, WriteBatch};

use super::numbering::Numbering;
use super::tables::{NAMES, NAMES_BY_NUMBER};
use super::{Rocks, keys, storage, values};
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::model::{CacheUsage, MAX_ID, UserId};
use crate::store::{self, Tier};

/// Memory for numbers of names, and for names of numbers, bytes each.
const MEMORY: u64 = 32 << 20;
const BYTES: fn(&Arc<str>) -> u64 = |name| 32 + name.len() as u64;
/// A UUID and its place in memory.
const USUAL: u64 = 68;
/// Names of changes that were then refused wait for the next change; more than these are written on their own.
const MOST_UNWRITTEN: usize = 10_000;

/// The part of names in memory.
pub(super) struct Names {
    numbers: Numbering,
    /// Names by number. A name never changes, so no value is ever stale.
    names: Cache<u64, Arc<str>>,
    /// Locked to give the next number.
    given: Mutex<Given>,
    /// Taken after `given`.
    unwritten: RwLock<Unwritten>,
    /// Whether `unwritten` has names, so that most changes and reads take no lock.
    has_unwritten: AtomicBool,
}

/// The state of the next number.
struct Given {
    /// The highest number given or reserved.
    highest: u64,
    /// How often numbers were given.
    times: u64,
    /// Reserved numbers, each with the number of its holders.
    reserved: HashMap<Arc<str>, (u64, usize)>,
}

/// Names whose rows are in no finished write.
#[derive(Default)]
struct Unwritten {
    numbers: HashMap<Arc<str>, u64>,
    names: HashMap<u64, Arc<str>>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            numbers: Numbering::new(NAMES, MEMORY),
            names: Cache::new(MEMORY, USUAL, BYTES),
            // The first number above those of hosts stays free.
            given: Mutex::new(Given { highest: MAX_ID + 1, times: 0, reserved: HashMap::new() }),
            unwritten: RwLock::default(),
            has_unwritten: AtomicBool::new(false),
        }
    }
}

impl Names {
    /// The caches in figures: numbers by name, then names by number.
    pub(super) fn usage(&self) -> [CacheUsage; 2] {
        [self.numbers.usage(), self.names.usage()]
    }

    fn unwritten_number(&self, name: &str) -> Option<u64> {
        let has = self.has_unwritten.load(Ordering::Acquire);
        if has { self.unwritten.read().numbers.get(name).copied() } else { None }
    }

    fn unwritten_name(&self, number: u64) -> Option<Arc<str>> {
        let has = self.has_unwritten.load(Ordering::Acquire);
        if has { self.unwritten.read().names.get(&number).cloned() } else { None }
    }
}

impl Given {
    fn next(&mut self) -> Result<u64> {
        self.highest =
            Some(self.highest + 1).filter(|next| *next < UserId::UNKNOWN.get()).ok_or_else(|| corrupt(self.highest))?;
        Ok(self.highest)
    }
}

impl Rocks {
    /// Continues after the highest number on disk.
    pub(super) fn load_names(&self) -> Result<()> {
        let mut rows = self.db.raw_iterator_cf_opt(self.family(NAMES_BY_NUMBER)?, ReadOptions::default());
        rows.seek_to_last();
        rows.status().map_err(storage)?;
        if let Some(number) = rows.key().and_then(keys::number) {
            let mut given = self.names.given.lock();
            given.highest = given.highest.max(number);
        }
        Ok(())
    }

    /// Adds the rows of unwritten names to a change; returns their numbers for [`Rocks::wrote_names`].
    pub(super) fn add_names(&self, change: &mut WriteBatch) -> Result<Vec<u64>> {
        if !self.names.has_unwritten.load(Ordering::Acquire) {
            return Ok(Vec::new());
        }
        let (by_name, by_number) = (self.family(NAMES)?, self.family(NAMES_BY_NUMBER)?);
        let unwritten = self.names.unwritten.read();
        for (number, name) in &unwritten.names {
            change.put_cf(by_name, name.as_bytes(), values::given(*number));
            change.put_cf(by_number, keys::id(*number), name.as_bytes());
        }
        Ok(unwritten.names.keys().copied().collect())
    }

    /// Ends the writing of names with a change that is written.
    pub(super) fn wrote_names(&self, numbers: &[u64]) {
        if numbers.is_empty() {
            return;
        }
        let mut unwritten = self.names.unwritten.write();
        for number in numbers {
            if let Some(name) = unwritten.names.remove(number) {
                unwritten.numbers.remove(&name);
            }
        }
        self.names.has_unwritten.store(!unwritten.names.is_empty(), Ordering::Release);
    }

    /// Writes the names if many wait. Fails before others are added, so that they stay bounded while no write succeeds.
    fn write_many_names(&self) -> Result<()> {
        if !self.names.has_unwritten.load(Ordering::Acquire)
            || self.names.unwritten.read().names.len() <= MOST_UNWRITTEN
        {
            return Ok(());
        }
        let mut change = WriteBatch::default();
        let written = self.add_names(&mut change)?;
        self.commit(change, false)?;
        self.wrote_names(&written);
        Ok(())
    }

    /// The number of a name, wherever it is.
    fn number(&self, name: &str, tier: Tier) -> Result<Option<u64>> {
        match self.names.unwritten_number(name) {
            Some(number) => Ok(Some(number)),
            None => self.names.numbers.find(self, name, tier),
        }
    }

    /// Adds the names that have a number to `numbers`; returns the others.
    fn known_names<'n>(&self, names: Vec<&'n str>, numbers: &mut HashMap<String, u64>) -> Result<Vec<&'n str>> {
        let mut rest = Vec::with_capacity(names.len());
        for name in names {
            match self.names.unwritten_number(name) {
                Some(number) => _ = numbers.insert(name.to_owned(), number),
                None => rest.push(name),
            }
        }
        self.names.numbers.find_all(self, rest, numbers)
    }
}

impl store::Names for Rocks {
    fn numbers(&self, names: &[&str], tier: Tier) -> Result<Vec<Option<u64>>> {
        if tier == Tier::Memory || names.len() == 1 {
            return names.iter().map(|name| self.number(name, tier)).collect();
        }
        let mut numbers = HashMap::with_capacity(names.len());
        self.known_names(names.to_vec(), &mut numbers)?;
        Ok(names.iter().map(|name| numbers.get(*name).copied()).collect())
    }

    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>> {
        if let Some(numbers) = names.iter().map(|name| self.names.numbers.cached(name)).collect() {
            return Ok(numbers);
        }
        self.write_many_names()?;
        let times = self.names.given.lock().times;
        // In the order of the call, each once.
        let mut seen = HashSet::with_capacity(names.len());
        let distinct = names.iter().filter(|name| seen.insert(**name)).copied().collect();
        let mut numbers = HashMap::with_capacity(names.len());
        let mut unknown = self.known_names(distinct, &mut numbers)?;
        if !unknown.is_empty() {
            let mut given = self.names.given.lock();
            if given.times != times {
                // Some may have a number by now.
                unknown = self.known_names(unknown, &mut numbers)?;
            }
            given.times += 1;
            for name in unknown {
                let number = match given.reserved.get(name) {
                    Some((number, _)) => *number,
                    None => given.next()?,
                };
                let shared: Arc<str> = name.into();
                let mut unwritten = self.names.unwritten.write();
                unwritten.numbers.insert(Arc::clone(&shared), number);
                unwritten.names.insert(number, Arc::clone(&shared));
                self.names.has_unwritten.store(true, Ordering::Release);
                drop(unwritten);
                self.names.numbers.remember(name, number);
                self.names.names.insert(number, shared);
                numbers.insert(name.to_owned(), number);
            }
        }
        let number = |name: &&str| {
            numbers.get(*name).copied().ok_or_else(|| Error::Corrupt(format!("the name {name:?} got no number")))
        };
        names.iter().map(number).collect()
    }

    fn reserve_number(&self, name: &str) -> Result<u64> {
        let mut given = self.names.given.lock();
        if let Some(number) = self.number(name, Tier::Disk)? {
            return Ok(number);
        }
        if let Some((number, holders)) = given.reserved.get_mut(name) {
            *holders += 1;
            return Ok(*number);
        }
        let number = given.next()?;
        given.reserved.insert(name.into(), (number, 1));
        Ok(number)
    }

    fn reserved_number(&self, name: &str) -> Option<u64> {
        self.names.given.lock().reserved.get(name).map(|(number, _)| *number)
    }

    fn release_number(&self, name: &str) {
        let mut given = self.names.given.lock();
        if let Some((_, holders)) = given.reserved.get_mut(name) {
            *holders -= 1;
            if *holders == 0 {
                given.reserved.remove(name);
            }
        }
    }

    fn names(&self, numbers: &[u64], tier: Tier) -> Result<Vec<Arc<str>>> {
        let known = |number: &u64| self.names.names.get(number).or_else(|| self.names.unwritten_name(*number));
        let mut names: Vec<_> = numbers.iter().map(known).collect();
        let missed: Vec<_> = (0..numbers.len()).filter(|place| names[*place].is_none()).collect();
        if !missed.is_empty() {
            let keys: Vec<_> = missed.iter().map(|place| keys::id(numbers[*place])).collect();
            let rows = self.get_many(NAMES_BY_NUMBER, keys.iter().map(<[u8; 8]>::as_slice), tier)?;
            for (place, row) in missed.into_iter().zip(rows) {
                let number = numbers[place];
                let text = row.as_deref().and_then(|row| std::str::from_utf8(row).ok());
                let name: Arc<str> = text.ok_or_else(|| corrupt(number))?.into();
                self.names.names.insert(number, Arc::clone(&name));
                names[place] = Some(name);
            }
        }
        Ok(names.into_iter().flatten().collect())
    }
}

fn corrupt(number: u64) -> Error {
    Error::Corrupt(format!("number {number} has no name"))
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::store::Names as _;

    #[test]
    fn names_without_a_write_are_bounded() {
        const CALL: usize = 500;
        let dir = tempfile::tempdir().expect("temp dir");
        let store = Rocks::open(&Options::new(dir.path())).expect("opens");
        let give = |call: usize| {
            let names: Vec<_> = (0..CALL).map(|n| format!("{call} {n}")).collect();
            store.give_numbers(&names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        store.health.owes_room.store(true, Ordering::Release);
        let given: Vec<_> = (0..100).map_while(|call| give(call).ok()).flatten().collect();
        let waiting = || store.names.unwritten.read().names.len();
        assert_eq!(waiting(), given.len());
        assert!((MOST_UNWRITTEN..=MOST_UNWRITTEN + CALL).contains(&waiting()), "{}", waiting());
        assert!(give(101).is_err() && give(0).is_ok(), "only what is new is refused");
        store.health.owes_room.store(false, Ordering::Release);
        let later = give(102).expect("gives");
        assert!(later[0] > given[given.len() - 1] && waiting() == CALL);
        drop(store);
        let store = Rocks::open(&Options::new(dir.path())).expect("opens");
        let names = store.names(&given, Tier::Disk).expect("reads");
        assert_eq!(&*names[0], "0 0");
    }
}
