//! Numbers of names. A change that is refused keeps its names here, except on a node.

use std::sync::Arc;

use model::MAX_ID;
use model::error::{Error, Result};
use model::store::{Hold, Names, Tier};

use super::{Double, State};

/// What tests do with numbers, beside changes.
pub trait GiveNumbers: Names {
    /// Gives numbers to names and writes them.
    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>> {
        let numbers = self.hold_numbers(names, Hold::Change)?;
        let written = self.write_names(&numbers);
        self.release_numbers(names, Hold::Change);
        written.map(|()| numbers)
    }

    /// The number of a name, held for a stream if it has none.
    fn reserve_number(&self, name: &str) -> Result<u64> {
        let number = self.hold_numbers(&[name], Hold::Stream)?.pop();
        number.ok_or_else(|| Error::Corrupt("a name got no number".to_owned()))
    }

    /// Ends one hold of a name for a stream.
    fn release_number(&self, name: &str) {
        self.release_numbers(&[name], Hold::Stream);
    }
}

impl<T: Names + ?Sized> GiveNumbers for T {}

impl Names for Double {
    fn numbers(&self, names: &[&str], _tier: Tier) -> Result<Vec<Option<u64>>> {
        let state = self.state();
        Ok(names.iter().map(|name| state.names.get(*name).copied()).collect())
    }

    fn hold_numbers(&self, names: &[&str], hold: Hold) -> Result<Vec<u64>> {
        let mut state = self.state();
        let State { names: given, reserved, last_name, is_node, held, .. } = &mut *state;
        let mut number = |name: &&str| {
            if let Some(number) = given.get(*name) {
                held.entry((*name).to_owned()).and_modify(|holders| *holders += 1);
                return *number;
            }
            let next = || {
                *last_name = (*last_name).max(MAX_ID + 1) + 1;
                (*last_name, 0)
            };
            match hold {
                Hold::Change => {
                    let (number, _) = reserved.remove(*name).unwrap_or_else(next);
                    given.insert((*name).to_owned(), number);
                    if *is_node {
                        held.insert((*name).to_owned(), 1);
                    }
                    number
                }
                Hold::Stream => {
                    let (number, holders) = reserved.entry((*name).to_owned()).or_insert_with(next);
                    *holders += 1;
                    *number
                }
            }
        };
        Ok(names.iter().map(&mut number).collect())
    }

    fn release_numbers(&self, names: &[&str], hold: Hold) {
        let mut state = self.state();
        if hold == Hold::Change {
            state.forget(names);
        }
        for name in names.iter().filter(|_| hold == Hold::Stream) {
            if let Some((_, holders)) = state.reserved.get_mut(*name) {
                *holders -= 1;
                if *holders == 0 {
                    state.reserved.remove(*name);
                }
            }
        }
    }

    fn is_held(&self, _name: &str) -> bool {
        false
    }

    fn reserved_number(&self, name: &str) -> Option<u64> {
        self.state().reserved.get(name).map(|(number, _)| *number)
    }

    fn write_names(&self, _numbers: &[u64]) -> Result<()> {
        self.state().write_names();
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
    /// A change is written, with the names that are held.
    pub(super) fn write_names(&mut self) {
        let held = std::mem::take(&mut self.held);
        let numbers = held.keys().filter_map(|name| self.names.get(name)).copied();
        self.written_name = numbers.fold(self.written_name, u64::max);
    }

    /// Ends one hold of each name. The numbers of those that no write has are given again.
    fn forget(&mut self, names: &[&str]) {
        if self.held.is_empty() {
            return;
        }
        for name in names {
            if let Some(holders) = self.held.get_mut(*name) {
                *holders -= 1;
                if *holders == 0 {
                    self.held.remove(*name);
                    self.names.remove(*name);
                }
            }
        }
        let held = self.held.keys().filter_map(|name| self.names.get(name)).copied();
        let reserved = self.reserved.values().map(|(number, _)| *number);
        self.last_name = held.chain(reserved).fold(self.written_name, u64::max);
    }
}
