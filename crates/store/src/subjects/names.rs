//! Names both ways: to their numbers, and back.
//!
//! A name gets its number from a change that mentions it. A change that is refused leaves no name.

use std::sync::Arc;

use crate::Store;
use crate::kv::Scope;
use crate::memory::numbers::Numbers;
use crate::rows::tables::{NAMES, NAMES_BY_NUMBER};
use crate::rows::{keys, values};
use model::cache::Cache;
use model::cache::memory::{CacheMemory, Share};
use model::error::{Error, Result};
use model::store::Tier;
use model::{CacheUsage, MAX_ID};

const BYTES: fn(&Arc<str>) -> u64 = |name| 32 + name.len() as u64;
/// A UUID and its place in memory.
const USUAL: u64 = 68;

/// The part of names in memory.
pub(crate) struct Names {
    pub(crate) numbers: Arc<Numbers>,
    /// Names by number. A name never changes, so no value is ever stale.
    names: Cache<u64, Arc<str>>,
}

impl Names {
    pub(crate) fn new(memory: CacheMemory) -> Self {
        Self {
            // The first number above those of hosts stays free.
            numbers: Arc::new(Numbers::new(NAMES, memory.of(Share::NUMBERS), MAX_ID + 1, None)),
            names: Cache::new(memory.of(Share::NAMES), USUAL, BYTES),
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
}

impl Store {
    /// Continues after the highest number on disk.
    pub(crate) fn load_names(&self) -> Result<()> {
        let mut rows = self.now(Tier::Disk).rows(NAMES_BY_NUMBER, Scope::Table)?;
        rows.seek_to_last();
        rows.status()?;
        if let Some(number) = rows.key().and_then(keys::number) {
            self.names.numbers.go_on_from(number.max(self.names.numbers.highest()));
        }
        Ok(())
    }
}

impl Store {
    /// The numbers of names, in their order; `None` for a name without a number.
    pub fn numbers(&self, names: &[&str], tier: Tier) -> Result<Vec<Option<u64>>> {
        self.names.numbers.find(self, names, tier)
    }

    /// The number of each name, for a change. A name that has none gets one: new numbers ascend in the order of the names, above
    /// all numbers before. They stay if the change is made; see [`Store::end_change`].
    /// Acknowledges.
    pub fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>> {
        let known = Arc::clone(&self.names);
        self.names.numbers.give(self, names, move |new| {
            new.into_iter().for_each(|(name, number)| known.names.insert(number, name.into()));
        })
    }

    /// The first `limit` written names that begin with `text`, in the order of their bytes, with their numbers.
    pub fn names_beginning(&self, text: &str, limit: usize) -> Result<Vec<(Arc<str>, u64)>> {
        let text = text.as_bytes();
        self.now(Tier::Disk).beginning((NAMES, Scope::Table), text, text, limit, |name, number| {
            let name = std::str::from_utf8(name).map_err(|_| Error::Corrupt(format!("a key in {NAMES}")))?;
            Ok((name.into(), values::read_given(number)?))
        })
    }

    /// The names of numbers, in their order; an empty one for a number whose name was erased with its user. What others
    /// have may still mention it, as the item of a marker or of a `ref_id`. `Corrupt` if one never had a name.
    pub fn names(&self, numbers: &[u64], tier: Tier) -> Result<Vec<Arc<str>>> {
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

    /// The id of a user or an item for a report: the name of a number in quotes. A number without a name stays as it is.
    pub fn shown(&self, id: impl Into<u64>) -> String {
        let id = id.into();
        let name =
            if id > MAX_ID { self.names(&[id], Tier::Disk).ok().and_then(|mut names| names.pop()) } else { None };
        name.filter(|name| !name.is_empty()).map_or_else(|| id.to_string(), |name| format!("{name:?}"))
    }
}
