//! Permanent numbers for texts: one row for each text, and the highest number in the first row. The cache needs no
//! announcements, because a number never changes.

use std::collections::HashMap;

use parking_lot::Mutex;
use rocksdb::WriteBatch;

use super::tables::Table;
use super::{Rocks, keys, values};
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::failpoint::Write;
use crate::model::CacheUsage;
use crate::store::Tier;

const MEMORY: fn(&Numbered) -> u64 = |numbered| 32 + u64::from(numbered.length);
const USUAL: u64 = 48;

/// The number of a text.
#[derive(Debug, Clone, Copy)]
struct Numbered {
    number: u64,
    /// Bytes of the text, which is the key.
    length: u16,
}

/// The numbers in one table.
pub(super) struct Numbering {
    table: Table,
    write: Write,
    numbers: Cache<Box<str>, Numbered>,
    /// Locked to give the next number.
    given: Mutex<Given>,
}

/// The state of the next number.
struct Given {
    /// The highest number given, tried or reserved.
    highest: u64,
    /// Reserved numbers, each with the number of its holders.
    reserved: HashMap<Box<str>, (u64, usize)>,
}

impl Numbering {
    /// For a table whose numbers come after `base`, with a cache of this many bytes. Numbers are given by `write`.
    pub(super) fn new(table: Table, write: Write, base: u64, cache: u64) -> Self {
        let given = Mutex::new(Given { highest: base, reserved: HashMap::new() });
        Self { table, write, numbers: Cache::new(cache, USUAL, MEMORY), given }
    }

    /// Continues after the highest number on disk.
    pub(super) fn load(&self, store: &Rocks) -> Result<()> {
        if let Some(row) = store.get(self.table, keys::HIGHEST_NUMBER, Tier::Disk)? {
            let mut given = self.given.lock();
            given.highest = values::read_given(&row)?.max(given.highest);
        }
        Ok(())
    }

    /// The highest number given, or the base.
    pub(super) fn highest(&self) -> u64 {
        self.given.lock().highest
    }

    /// The number of a text; without one, the number that it would get. That number is kept for it until
    /// [`Numbering::release`].
    pub(super) fn reserve(&self, store: &Rocks, text: &str) -> Result<u64> {
        let mut given = self.given.lock();
        if let Some(number) = self.find(store, text, Tier::Disk)? {
            return Ok(number);
        }
        if let Some((number, holders)) = given.reserved.get_mut(text) {
            *holders += 1;
            return Ok(*number);
        }
        let number = self.next(&mut given)?;
        given.reserved.insert(text.into(), (number, 1));
        Ok(number)
    }

    /// The number reserved for a text.
    pub(super) fn reserved(&self, text: &str) -> Option<u64> {
        self.given.lock().reserved.get(text).map(|(number, _)| *number)
    }

    /// Ends one reservation of a text, if it has any.
    pub(super) fn release(&self, text: &str) {
        let mut given = self.given.lock();
        if let Some((_, holders)) = given.reserved.get_mut(text) {
            *holders -= 1;
            if *holders == 0 {
                given.reserved.remove(text);
            }
        }
    }

    fn next(&self, given: &mut Given) -> Result<u64> {
        given.highest =
            given.highest.checked_add(1).ok_or_else(|| Error::Corrupt(format!("the numbers in {}", self.table)))?;
        Ok(given.highest)
    }

    /// The cache in figures.
    pub(super) fn usage(&self) -> CacheUsage {
        self.numbers.usage()
    }

    /// The number of a text, if it is in memory.
    pub(super) fn cached(&self, text: &str) -> Option<u64> {
        self.numbers.get(text).map(|found| found.number)
    }

    /// The number of a text; `None` if it has none.
    pub(super) fn find(&self, store: &Rocks, text: &str, tier: Tier) -> Result<Option<u64>> {
        if let Some(number) = self.cached(text) {
            return Ok(Some(number));
        }
        if text.is_empty() {
            return Ok(None);
        }
        let Some(row) = store.get(self.table, text.as_bytes(), tier)? else { return Ok(None) };
        let number = values::read_given(&row)?;
        self.remember(text, number);
        Ok(Some(number))
    }

    /// Adds the texts that have a number to `numbers`; returns the others.
    pub(super) fn find_all<'t>(
        &self,
        store: &Rocks,
        texts: Vec<&'t str>,
        numbers: &mut HashMap<String, u64>,
    ) -> Result<Vec<&'t str>> {
        let mut missed = Vec::new();
        for text in texts {
            match self.numbers.get(text) {
                Some(found) => _ = numbers.insert(text.to_owned(), found.number),
                None => missed.push(text),
            }
        }
        let rows = store.get_many(self.table, missed.iter().map(|text| text.as_bytes()), Tier::Disk)?;
        let mut unknown = Vec::new();
        for (text, row) in missed.into_iter().zip(rows) {
            match row {
                Some(row) => {
                    let number = values::read_given(&row)?;
                    self.remember(text, number);
                    numbers.insert(text.to_owned(), number);
                }
                None => unknown.push(text),
            }
        }
        Ok(unknown)
    }

    /// The numbers of texts. Gives numbers to those that have none, ascending in the order of `texts` unless reserved, in one write;
    /// `add` adds rows of the new numbers to it. Texts must differ.
    pub(super) fn give(
        &self,
        store: &Rocks,
        texts: Vec<&str>,
        add: impl FnOnce(&mut WriteBatch, &[(&str, u64)]) -> Result<()>,
    ) -> Result<HashMap<String, u64>> {
        let mut numbers = HashMap::with_capacity(texts.len());
        let unknown = self.find_all(store, texts, &mut numbers)?;
        if unknown.is_empty() {
            return Ok(numbers);
        }
        let mut state = self.given.lock();
        // Some may have a number by now.
        let unknown = self.find_all(store, unknown, &mut numbers)?;
        if unknown.is_empty() {
            return Ok(numbers);
        }
        let table = store.family(self.table)?;
        let mut change = WriteBatch::default();
        let mut given = Vec::with_capacity(unknown.len());
        for text in unknown {
            // Not given again if the write fails: it may be on disk anyway, and no number is given to two texts.
            let number = match state.reserved.get(text) {
                Some((number, _)) => *number,
                None => self.next(&mut state)?,
            };
            change.put_cf(table, text.as_bytes(), values::given(number));
            given.push((text, number));
        }
        change.put_cf(table, keys::HIGHEST_NUMBER, values::given(state.highest));
        add(&mut change, &given)?;
        store.follow_up(self.write, change)?;
        for (text, number) in given {
            self.remember(text, number);
            numbers.insert(text.to_owned(), number);
        }
        Ok(numbers)
    }

    fn remember(&self, text: &str, number: u64) {
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        self.numbers.insert(text.into(), Numbered { number, length });
    }
}
