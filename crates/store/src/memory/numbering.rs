//! Permanent numbers of texts, one row for each text. The cache needs no announcements, because a number never changes.

use crate::Rocks;
use crate::rows::tables::Table;
use crate::rows::values;
use model::CacheUsage;
use model::cache::Cache;
use model::error::Result;
use model::store::Tier;

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
pub(crate) struct Numbering {
    table: Table,
    numbers: Cache<Box<str>, Numbered>,
}

impl Numbering {
    /// For a table, with a cache of this many bytes.
    pub(crate) fn new(table: Table, cache: u64) -> Self {
        Self { table, numbers: Cache::new(cache, USUAL, MEMORY) }
    }

    /// The cache in figures.
    pub(crate) fn usage(&self) -> CacheUsage {
        self.numbers.usage()
    }

    /// The number of a text, if it is in memory.
    pub(crate) fn cached(&self, text: &str) -> Option<u64> {
        self.numbers.get(text).map(|found| found.number)
    }

    /// The number of a text; `None` if it has none.
    pub(crate) fn find(&self, store: &Rocks, text: &str, tier: Tier) -> Result<Option<u64>> {
        if let Some(number) = self.cached(text) {
            return Ok(Some(number));
        }
        if text.is_empty() {
            return Ok(None);
        }
        let Some(row) = store.get(self.table, text.as_bytes(), tier)? else { return Ok(None) };
        let number = values::read_given(&row)?;
        if row.is_written() {
            self.remember(text, number);
        }
        Ok(Some(number))
    }

    /// The numbers of texts, in their order; `None` for a text that has none.
    pub(crate) fn find_all(&self, store: &Rocks, texts: &[&str]) -> Result<Vec<Option<u64>>> {
        let mut numbers: Vec<_> = texts.iter().map(|text| self.cached(text)).collect();
        let missed: Vec<_> = (0..texts.len()).filter(|place| numbers[*place].is_none()).collect();
        if missed.is_empty() {
            return Ok(numbers);
        }
        let rows = store.get_many(self.table, missed.iter().map(|place| texts[*place].as_bytes()), Tier::Disk)?;
        for (place, row) in missed.into_iter().zip(rows) {
            if let Some(row) = row {
                let number = values::read_given(&row)?;
                if row.is_written() {
                    self.remember(texts[place], number);
                }
                numbers[place] = Some(number);
            }
        }
        Ok(numbers)
    }

    /// Drops a number from memory.
    pub(crate) fn forget(&self, text: &str) {
        self.numbers.remove(&text.into());
    }

    /// Keeps a number in memory.
    pub(crate) fn remember(&self, text: &str, number: u64) {
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        self.numbers.insert(text.into(), Numbered { number, length });
    }
}
