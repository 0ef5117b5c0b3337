//! Permanent numbers of texts, one row for each text. A text gets the next number from the first change with it. The cache needs no
//! announcements, because a number never changes.

use std::collections::HashMap;
use std::sync::Arc;
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

    /// The numbers of texts, in their order. One without a number gets the next one in the present change. `written` gets all
    /// new ones once their rows are written.
    pub(crate) fn give(
        self: &Arc<Self>,
        database: &Database,
        texts: &[&str],
        written: impl FnOnce(HashMap<Box<str>, u64>) + Send + 'static,
    ) -> Result<Vec<u64>> {
        let found = self.find(database, texts, Tier::Disk)?;
        if let Some(numbers) = found.iter().copied().collect() {
            return Ok(numbers);
        }
        let (mut rows, mut new, before) = (WriteBatch::default(), HashMap::<Box<str>, u64>::new(), self.highest());
        let mut give = |text: &str| {
            let next = before + 1 + new.len() as u64;
            *new.entry(text.into()).or_insert(next)
        };
        let numbers = texts.iter().zip(found).map(|(text, found)| found.unwrap_or_else(|| give(text))).collect();
        for (text, number) in &new {
            let value = values::Number(*number).bytes()?;
            change_row(&mut rows, self.table, text.as_bytes(), [None, Some(value)], &Given::default())?;
        }
        let highest = before + new.len() as u64;
        if let Some(key) = self.highest_row {
            rows.put(self.table, key, values::Number(highest).bytes()?);
        }
        self.go_on_from(highest);
        let given = Arc::clone(self);
        database.acknowledge(None, rows, move |is_written| {
            if !is_written {
                return given.go_on_from(before);
            }
            new.iter().for_each(|(text, number)| given.remember(text, *number));
            written(new);
        })?;
        Ok(numbers)
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
