//! Permanent numbers of texts, one row for each text. A text gets the next number from the first change with it. The cache needs no
//! announcements, because a number never changes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::rows::changes::change_row;
use crate::rows::mirrors::Given;
use crate::rows::table::AnyTable;
use crate::rows::values::{self, Value};
use kv::{Database, Tier, WriteBatch};
use model::CacheUsage;
use model::cache::Cache;
use model::error::Result;

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
pub(crate) struct Numbers {
    table: AnyTable,
    numbers: Cache<Box<str>, Numbered>,
    /// The highest one given.
    highest: AtomicU64,
    /// The key of the row that has it, if there is one.
    highest_row: Option<&'static [u8]>,
}

impl Numbers {
    /// For a table, with a cache of this many bytes. Numbers go on after `highest`, which is also in a row, if that has a key.
    pub(crate) fn new(table: AnyTable, cache: u64, highest: u64, highest_row: Option<&'static [u8]>) -> Self {
        Self { table, numbers: Cache::new(cache, USUAL, MEMORY), highest: AtomicU64::new(highest), highest_row }
    }

    /// The highest number given.
    pub(crate) fn highest(&self) -> u64 {
        self.highest.load(Ordering::Relaxed)
    }

    /// Goes on from a number, also back.
    pub(crate) fn go_on_from(&self, highest: u64) {
        self.highest.store(highest, Ordering::Relaxed);
    }

    /// The numbers of texts, in their order, and the rows of those that have none so far: they get the next ones.
    pub(crate) fn give(&self, database: &Database, texts: &[&str]) -> Result<(Vec<u64>, WriteBatch)> {
        let found = self.find(database, texts, Tier::Disk)?;
        let (mut rows, mut new, mut highest) = (WriteBatch::default(), HashMap::<&str, u64>::new(), self.highest());
        let mut numbers = Vec::with_capacity(texts.len());
        for (text, found) in texts.iter().zip(found) {
            if let Some(number) = found.or_else(|| new.get(text).copied()) {
                numbers.push(number);
                continue;
            }
            highest += 1;
            let value = values::Number(highest).bytes()?;
            change_row(&mut rows, self.table, text.as_bytes(), [None, Some(value)], &Given::default())?;
            new.insert(text, highest);
            numbers.push(highest);
        }
        if !new.is_empty() {
            self.go_on_from(highest);
            if let Some(key) = self.highest_row {
                rows.put(self.table, key, values::Number(highest).bytes()?);
            }
        }
        Ok((numbers, rows))
    }

    /// The row of a new number is written, or has failed: then the number is free again.
    pub(crate) fn end(&self, text: &str, number: u64, is_written: bool) {
        if is_written && !text.is_empty() {
            self.remember(text, number);
        } else if !is_written {
            self.highest.fetch_min(number - 1, Ordering::Relaxed);
        }
    }

    /// The cache in figures.
    pub(crate) fn usage(&self) -> CacheUsage {
        self.numbers.usage()
    }

    /// The numbers of texts, in their order; `None` for a text that has none.
    pub(crate) fn find(&self, database: &Database, texts: &[&str], tier: Tier) -> Result<Vec<Option<u64>>> {
        let cached = |text: &&str| self.numbers.get(*text).map(|found| found.number);
        let mut numbers: Vec<_> = texts.iter().map(cached).collect();
        // The row of the empty text is none of a text.
        let missed = |place: &usize| numbers[*place].is_none() && !texts[*place].is_empty();
        let missed: Vec<_> = (0..texts.len()).filter(missed).collect();
        if missed.is_empty() {
            return Ok(numbers);
        }
        let rows = database.get_many(self.table, missed.iter().map(|place| texts[*place].as_bytes()), tier)?;
        for (place, row) in missed.into_iter().zip(rows) {
            let Some(row) = row else { continue };
            let values::Number(number) = Value::read(&[], &row)?;
            if row.is_written() {
                self.remember(texts[place], number);
            }
            numbers[place] = Some(number);
        }
        Ok(numbers)
    }

    /// Drops a number from memory.
    pub(crate) fn forget(&self, text: &str) {
        self.numbers.remove(&text.into());
    }

    /// Keeps a number in memory.
    fn remember(&self, text: &str, number: u64) {
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        self.numbers.insert(text.into(), Numbered { number, length });
    }
}
