//! Names both ways: to their numbers, and back.
//!
//! A name gets its number from a change that mentions it. A change that is refused leaves no name.

use std::sync::Arc;

use crate::rows::keys;
use crate::rows::tables::{NAMES, NAMES_BY_NUMBER};
use crate::rows::values::{Number, Value};
use crate::store::Store;
use kv::{Row, Scope, Tier};
use model::MAX_ID;
use model::error::{Error, Result};

/// The numbers of names, in their order; `None` for a name without a number.
pub fn numbers(store: &Store, names: &[&str], tier: Tier) -> Result<Vec<Option<u64>>> {
    store.memory.names.numbers.find(store, names, tier)
}

/// The number of each name, for a change. A name that has none gets one: new numbers ascend in the order of the names, above
/// all numbers before. They stay if the change is made; see [`KeptRows::end_change`](crate::store::KeptRows::end_change).
/// Acknowledges.
pub fn give_numbers(store: &Store, names: &[&str]) -> Result<Vec<u64>> {
    let (numbers, rows) = store.memory.names.numbers.give(store, names)?;
    store.begin_change(rows)?;
    Ok(numbers)
}

/// The first `limit` written names that begin with `text`, in the order of their bytes, with their numbers.
pub fn names_beginning(store: &Store, text: &str, limit: usize) -> Result<Vec<(Arc<str>, u64)>> {
    let text = text.as_bytes();
    store.now(Tier::Disk).beginning((&NAMES, Scope::Table), text, text, limit, |name, number| {
        let name = std::str::from_utf8(name).map_err(|_| Error::Corrupt(format!("a key in {NAMES}")))?;
        Ok((name.into(), Number::read(&[], number)?.0))
    })
}

/// The names of numbers, in their order; an empty one for a number whose name was erased with its user. What others
/// have may still mention it, as the item of a marker or of a `ref_id`. `Corrupt` if one never had a name.
pub fn names(store: &Store, numbers: &[u64], tier: Tier) -> Result<Vec<Arc<str>>> {
    let mut names: Vec<_> = numbers.iter().map(|number| store.memory.names.names.get(number)).collect();
    let missed: Vec<_> = (0..numbers.len()).filter(|place| names[*place].is_none()).collect();
    if !missed.is_empty() {
        let rows = store.get_many(&NAMES_BY_NUMBER, missed.iter().map(|place| keys::id(numbers[*place])), tier)?;
        for (place, row) in missed.into_iter().zip(rows) {
            let row = row.ok_or_else(|| no_name(numbers[place]))?;
            names[place] = Some(kept(store, numbers[place], &row)?);
        }
    }
    Ok(names.into_iter().flatten().collect())
}

/// The name of a number, as [`names`] has it; `None` if it never had one.
pub(crate) fn name(store: &Store, number: u64, tier: Tier) -> Result<Option<Arc<str>>> {
    if let Some(name) = store.memory.names.names.get(&number) {
        return Ok(Some(name));
    }
    let row = store.get(&NAMES_BY_NUMBER, &keys::id(number), tier)?;
    row.map(|row| kept(store, number, &row)).transpose()
}

/// The name in a row, which memory has from now on.
fn kept(store: &Store, number: u64, row: &Row<'_>) -> Result<Arc<str>> {
    let name = Arc::<str>::from(std::str::from_utf8(row).map_err(|_| no_name(number))?);
    if row.is_written() {
        store.memory.names.names.insert(number, Arc::clone(&name));
    }
    Ok(name)
}

fn no_name(number: u64) -> Error {
    Error::Corrupt(format!("number {number} has no name"))
}

/// The id of a user or an item for a report: the name of a number in quotes. A number without a name stays as it is.
pub fn shown(store: &Store, id: impl Into<u64>) -> String {
    let id = id.into();
    let name = if id > MAX_ID { names(store, &[id], Tier::Disk).ok().and_then(|mut names| names.pop()) } else { None };
    name.filter(|name| !name.is_empty()).map_or_else(|| id.to_string(), |name| format!("{name:?}"))
}
