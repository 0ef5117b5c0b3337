//! Numbers of names.

use std::sync::Arc;

use model::error::{Error, Result};
use model::store::{Names, Store, Tier};
use model::{Effect, MAX_ID};

use super::{Double, State};

/// Gives numbers to names and writes them, as a change of its own.
pub trait GiveNumbers: Store {
    /// The numbers.
    fn numbered(&self, names: &[&str]) -> Result<Vec<u64>> {
        let numbers = self.give_numbers(names)?;
        self.write_names()?;
        self.end_change();
        Ok(numbers)
    }
}

impl<T: Store + ?Sized> GiveNumbers for T {}

impl Names for Double {
    fn numbers(&self, names: &[&str], _tier: Tier) -> Result<Vec<Option<u64>>> {
        let state = self.state();
        Ok(names.iter().map(|name| state.names.get(*name).copied()).collect())
    }

    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>> {
        let mut state = self.state();
        let State { names: given, new_names, last_name, .. } = &mut *state;
        let number = |name: &&str| {
            if let Some(number) = given.get(*name).or_else(|| new_names.get(*name)) {
                return *number;
            }
            *last_name = (*last_name).max(MAX_ID + 1) + 1;
            new_names.insert((*name).to_owned(), *last_name);
            *last_name
        };
        Ok(names.iter().map(number).collect())
    }

    fn write_names(&self) -> Result<()> {
        let State { names, new_names, .. } = &mut *self.state();
        names.append(new_names);
        Ok(())
    }

    fn names_beginning(&self, text: &str, limit: usize) -> Result<Vec<(Arc<str>, u64)>> {
        let state = self.state();
        let found = state.names.range(text.to_owned()..).take_while(|(name, _)| name.starts_with(text));
        Ok(found.map(|(name, number)| (name.as_str().into(), *number)).take(limit).collect())
    }

    fn names(&self, numbers: &[u64], _tier: Tier) -> Result<Vec<Arc<str>>> {
        let state = self.state();
        let name = |number: &u64| {
            if state.erased_names.contains(number) {
                return Ok("".into());
            }
            let found = state.names.iter().find(|(_, given)| *given == number);
            found.map(|(name, _)| name.as_str().into()).ok_or_else(|| Error::Corrupt("no name".to_owned()))
        };
        numbers.iter().map(name).collect()
    }
}

impl State {
    /// A change is written, with the names and kinds that got numbers for it.
    pub(super) fn write_names(&mut self) {
        self.names.append(&mut self.new_names);
        self.content_kinds.append(&mut self.new_kinds);
    }

    /// Forgets those that no write has. Returns the effects of the change.
    pub(super) fn end_change(&mut self) -> Vec<Effect> {
        self.last_name -= self.new_names.len() as u64;
        self.new_names.clear();
        self.new_kinds.clear();
        std::mem::take(&mut self.effects)
    }
}
