//! Names both ways: to their numbers, and back.
//!
//! A change holds numbers for the names that it mentions first. Each change that is written meanwhile has the rows of all
//! held names, until one of these changes is written. So no change is on disk without its names, a name costs no write
//! of its own, and a refused change leaves no name, unless another change was written at the same moment.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use rocksdb::{ReadOptions, WriteBatch};

use super::numbering::Numbering;
use super::tables::{NAMES, NAMES_BY_NUMBER};
use super::{Rocks, keys, storage, values};
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::model::{CacheUsage, MAX_ID, UserId};
use crate::store::{self, Hold, Tier};

/// Memory for numbers of names, and for names of numbers, bytes each.
const MEMORY: u64 = 32 << 20;
const BYTES: fn(&Arc<str>) -> u64 = |name| 32 + name.len() as u64;
/// A UUID and its place in memory.
const USUAL: u64 = 68;
/// Most names written of late.
const MOST_RECENT: usize = 1024;

/// The part of names in memory.
pub(super) struct Names {
    numbers: Numbering,
    /// Names by number. A name never changes, so no value is ever stale.
    names: Cache<u64, Arc<str>>,
    /// Locked to give the next number.
    given: Mutex<Given>,
    /// Whether names are held for changes, so that most changes take no lock.
    has_wanted: AtomicBool,
    /// How often [`Given::recent`] was emptied.
    emptied: AtomicU64,
}

/// Names without written rows, and the next number.
struct Given {
    /// The highest number given.
    highest: u64,
    /// The highest number on disk.
    written: u64,
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

/// The names whose rows a change has.
pub(super) type Written = Vec<(u64, Arc<str>)>;

impl Default for Names {
    fn default() -> Self {
        // The first number above those of hosts stays free.
        let given = Given {
            highest: MAX_ID + 1,
            written: MAX_ID + 1,
            recent: HashMap::new(),
            held: HashMap::new(),
            wanted: BTreeMap::new(),
        };
        Self {
            numbers: Numbering::new(NAMES, MEMORY),
            names: Cache::new(MEMORY, USUAL, BYTES),
            given: Mutex::new(given),
            has_wanted: AtomicBool::new(false),
            emptied: AtomicU64::new(0),
        }
    }
}

impl Names {
    /// The caches in figures: numbers by name, then names by number.
    pub(super) fn usage(&self) -> [CacheUsage; 2] {
        [self.numbers.usage(), self.names.usage()]
    }

    /// A change with the rows of these names is written.
    pub(super) fn written(&self, names: Written) {
        if names.is_empty() {
            return;
        }
        let mut given = self.given.lock();
        for (number, name) in names {
            given.held.remove(&name);
            given.wanted.remove(&number);
            given.written = given.written.max(number);
            self.numbers.remember(&name, number);
            self.names.insert(number, Arc::clone(&name));
            if given.keep_recent(name, number) {
                self.emptied.fetch_add(1, Ordering::Release);
            }
        }
        self.has_wanted.store(!given.wanted.is_empty(), Ordering::Release);
    }

    /// A change with the rows of these names was not tried.
    pub(super) fn give_up(&self, names: &Written) {
        if names.is_empty() {
            return;
        }
        let mut given = self.given.lock();
        names.iter().for_each(|(_, name)| given.end(name, |held| held.writes = held.writes.saturating_sub(1)));
        self.has_wanted.store(!given.wanted.is_empty(), Ordering::Release);
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
    fn forget_unused(&mut self) {
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
        let (number, is_wanted, is_used) = (held.number, held.changes > 0, held.streams + held.writes > 0);
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
    pub(super) fn load_names(&self) -> Result<()> {
        let mut rows = self.db.raw_iterator_cf_opt(self.family(NAMES_BY_NUMBER)?, ReadOptions::default());
        rows.seek_to_last();
        rows.status().map_err(storage)?;
        if let Some(number) = rows.key().and_then(keys::number) {
            let mut given = self.names.given.lock();
            given.highest = given.highest.max(number);
            given.written = given.written.max(number);
        }
        Ok(())
    }

    /// The highest number given.
    pub(super) fn highest_number(&self) -> u64 {
        self.names.given.lock().highest
    }

    /// Continues after this number, and after those that names have or hold.
    pub(super) fn continue_after(&self, highest: u64) {
        let mut given = self.names.given.lock();
        given.written = given.written.max(highest);
        given.forget_unused();
    }

    /// Adds the rows of names that are held for changes to a change; returns them for [`Names::written`].
    pub(super) fn add_names(&self, change: &mut WriteBatch) -> Result<Written> {
        if !self.names.has_wanted.load(Ordering::Acquire) {
            return Ok(Vec::new());
        }
        let (by_name, by_number) = (self.family(NAMES)?, self.family(NAMES_BY_NUMBER)?);
        let mut given = self.names.given.lock();
        let names: Written = given.wanted.iter().map(|(number, name)| (*number, Arc::clone(name))).collect();
        for (number, name) in &names {
            change.put_cf(by_name, name.as_bytes(), values::given(*number));
            change.put_cf(by_number, keys::id(*number), name.as_bytes());
            if let Some(held) = given.held.get_mut(name) {
                held.writes += 1;
            }
        }
        Ok(names)
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

    fn reserved_number(&self, name: &str) -> Option<u64> {
        self.names.given.lock().held.get(name).filter(|held| held.streams > 0).map(|held| held.number)
    }

    fn write_names(&self) -> Result<()> {
        let mut change = WriteBatch::default();
        let names = self.add_names(&mut change)?;
        if names.is_empty() {
            return Ok(());
        }
        self.add_mark(&mut change)?;
        let admitted = self.health.admit().inspect_err(|_| self.names.give_up(&names))?;
        self.commit_admitted(&admitted, change, false)?;
        self.names.written(names);
        Ok(())
    }

    fn names(&self, numbers: &[u64], tier: Tier) -> Result<Vec<Arc<str>>> {
        let mut names: Vec<_> = numbers.iter().map(|number| self.names.names.get(number)).collect();
        let missed: Vec<_> = (0..numbers.len()).filter(|place| names[*place].is_none()).collect();
        if !missed.is_empty() {
            let keys: Vec<_> = missed.iter().map(|place| keys::id(numbers[*place])).collect();
            let rows = self.get_many(NAMES_BY_NUMBER, keys.iter().map(<[u8; 8]>::as_slice), tier)?;
            for (place, row) in missed.into_iter().zip(rows) {
                let number = numbers[place];
                let text = row.as_deref().and_then(|row| std::str::from_utf8(row).ok());
                let name: Arc<str> = text.ok_or_else(|| Error::Corrupt(format!("number {number} has no name")))?.into();
                self.names.names.insert(number, Arc::clone(&name));
                names[place] = Some(name);
            }
        }
        Ok(names.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::store::{Activities, Names as _, Records};

    fn open(dir: &tempfile::TempDir) -> Rocks {
        Rocks::open(&Options::new(dir.path())).expect("opens")
    }

    fn hold(store: &Rocks, name: &str) -> u64 {
        store.hold_numbers(&[name], Hold::Change).expect("holds")[0]
    }

    fn write(store: &Rocks) -> Result<()> {
        store.meet(UserId::MIN, 1)?;
        store.put_profile(UserId::MIN, &crate::model::Profile::default())
    }

    fn number(store: &Rocks, name: &str) -> Option<u64> {
        store.numbers(&[name], Tier::Disk).expect("reads")[0]
    }

    #[test]
    fn a_name_that_no_change_has_written_is_forgotten() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = open(&dir);
        let refused = hold(&store, "a");
        store.release_numbers(&["a"], Hold::Change);
        write(&store).expect("writes");
        assert_eq!(number(&store, "a"), None);
        let again = hold(&store, "a");
        assert!(again > refused, "no number is given twice");
        // A write that the full device does not take.
        store.health.owes_room.store(true, Ordering::Release);
        assert!(write(&store).is_err());
        store.release_numbers(&["a"], Hold::Change);
        assert!(store.names.given.lock().held.is_empty() && !store.names.has_wanted.load(Ordering::Acquire));
    }

    #[test]
    fn a_name_is_written_while_one_of_its_changes_may_be() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = open(&dir);
        let numbers = [hold(&store, "a"), hold(&store, "a"), store.reserve_number("a").expect("reserves")];
        assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
        store.release_numbers(&["a"], Hold::Change);
        assert_eq!((number(&store, "a"), store.reserved_number("a")), (None, Some(numbers[0])));
        write(&store).expect("writes");
        assert_eq!((number(&store, "a"), store.reserved_number("a")), (Some(numbers[0]), None));
        store.release_numbers(&["a"], Hold::Change);
        store.release_number("a");
        drop(store);
        let store = open(&dir);
        assert_eq!(number(&store, "a"), Some(numbers[0]));
        assert_eq!(store.names(&numbers[..1], Tier::Disk).expect("reads")[0].as_ref(), "a");
        assert!(hold(&store, "b") > numbers[0]);
    }

    #[test]
    fn a_name_that_is_written_after_a_look_up_has_one_number() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = open(&dir);
        for others in [0, MOST_RECENT] {
            let name = format!("with {others} others");
            let emptied = store.names.emptied.load(Ordering::Acquire);
            let found = store.names.numbers.find_all(&store, &[&name]).expect("reads");
            assert_eq!(found, [None]);
            let number = hold(&store, &name);
            write(&store).expect("writes");
            let others: Vec<_> = (0..others).map(|n| n.to_string()).collect();
            let others: Vec<_> = others.iter().map(String::as_str).collect();
            store.give_numbers(&others).expect("gives");
            store.names.numbers.clear();
            assert_eq!(store.hold_found(&[&name], found, emptied, Hold::Change).expect("holds"), [number]);
        }
        assert!(store.names.given.lock().recent.len() <= MOST_RECENT);
    }

    #[test]
    fn a_name_keeps_its_number_while_a_write_is_under_way() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = open(&dir);
        let first = hold(&store, "a");
        let mut change = WriteBatch::default();
        let under_way = store.add_names(&mut change).expect("adds");
        store.release_numbers(&["a"], Hold::Change);
        assert_eq!(hold(&store, "a"), first, "its rows may be on disk already");
        store.commit(change, false).expect("writes");
        store.names.written(under_way);
        store.release_numbers(&["a"], Hold::Change);
        assert_eq!(number(&store, "a"), Some(first));
    }
}
