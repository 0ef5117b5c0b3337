//! Names both ways: to their numbers, and back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::numbering::Numbering;
use super::tables::{NAMES, NAMES_BY_NUMBER};
use super::{Rocks, keys};
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::failpoint::Write;
use crate::model::{CacheUsage, MAX_ID};
use crate::store::{self, Tier};

/// Memory for numbers of names, and for names of numbers, bytes each.
const MEMORY: u64 = 32 << 20;
const BYTES: fn(&Arc<str>) -> u64 = |name| 32 + name.len() as u64;
/// A UUID and its place in memory.
const USUAL: u64 = 68;

/// The part of names in memory.
pub(super) struct Names {
    pub(super) numbers: Numbering,
    /// Names by number. A name never changes, so no value is ever stale.
    names: Cache<u64, Arc<str>>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            // The first number above those of hosts stays free.
            numbers: Numbering::new(NAMES, Write::GiveNumbers, MAX_ID + 1, MEMORY),
            names: Cache::new(MEMORY, USUAL, BYTES),
        }
    }
}

impl Names {
    /// The caches in figures: numbers by name, then names by number.
    pub(super) fn usage(&self) -> [CacheUsage; 2] {
        [self.numbers.usage(), self.names.usage()]
    }
}

impl store::Names for Rocks {
    fn numbers(&self, names: &[&str], tier: Tier) -> Result<Vec<Option<u64>>> {
        if tier == Tier::Memory || names.len() == 1 {
            return names.iter().map(|name| self.names.numbers.find(self, name, tier)).collect();
        }
        let mut numbers = HashMap::with_capacity(names.len());
        self.names.numbers.find_all(self, names.to_vec(), &mut numbers)?;
        Ok(names.iter().map(|name| numbers.get(*name).copied()).collect())
    }

    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>> {
        if let Some(numbers) = names.iter().map(|name| self.names.numbers.cached(name)).collect() {
            return Ok(numbers);
        }
        // In the order of the call, each once.
        let mut seen = HashSet::with_capacity(names.len());
        let distinct = names.iter().filter(|name| seen.insert(**name)).copied().collect();
        let by_number = self.family(NAMES_BY_NUMBER)?;
        let numbers = self.names.numbers.give(self, distinct, |change, given| {
            given.iter().for_each(|(name, number)| change.put_cf(by_number, keys::id(*number), name.as_bytes()));
            Ok(())
        })?;
        let number = |name: &&str| {
            numbers.get(*name).copied().ok_or_else(|| Error::Corrupt(format!("the name {name:?} got no number")))
        };
        names.iter().map(number).collect()
    }

    fn reserve_number(&self, name: &str) -> Result<u64> {
        self.names.numbers.reserve(self, name)
    }

    fn reserved_number(&self, name: &str) -> Option<u64> {
        self.names.numbers.reserved(name)
    }

    fn release_number(&self, name: &str) {
        self.names.numbers.release(name);
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
