//! Numbers of names.

use std::sync::Arc;

use tideline::error::{Error, Result};
use tideline::model::MAX_ID;
use tideline::store::{Names, Tier};

use super::{Double, State};

impl Names for Double {
    fn numbers(&self, names: &[&str], _tier: Tier) -> Result<Vec<Option<u64>>> {
        let state = self.state();
        Ok(names.iter().map(|name| state.names.get(*name).copied()).collect())
    }

    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>> {
        let mut state = self.state();
        let state = &mut *state;
        let give = |name: &&str| match (state.names.get(*name), state.reserved.get(*name)) {
            (Some(number), _) => *number,
            (None, reserved) => {
                let number = reserved.map_or_else(|| next(&mut state.last_name), |(number, _)| *number);
                state.names.insert((*name).to_owned(), number);
                number
            }
        };
        Ok(names.iter().map(give).collect())
    }

    fn reserve_number(&self, name: &str) -> Result<u64> {
        let mut state = self.state();
        let State { names, reserved, last_name, .. } = &mut *state;
        if let Some(number) = names.get(name) {
            return Ok(*number);
        }
        let (number, holders) = reserved.entry(name.to_owned()).or_insert_with(|| (next(last_name), 0));
        *holders += 1;
        Ok(*number)
    }

    fn reserved_number(&self, name: &str) -> Option<u64> {
        self.state().reserved.get(name).map(|(number, _)| *number)
    }

    fn release_number(&self, name: &str) {
        let mut state = self.state();
        if let Some((_, holders)) = state.reserved.get_mut(name) {
            *holders -= 1;
            if *holders == 0 {
                state.reserved.remove(name);
            }
        }
    }

    fn names(&self, numbers: &[u64], _tier: Tier) -> Result<Vec<Arc<str>>> {
        let state = self.state();
        let name = |number: &u64| {
            let found = state.names.iter().find(|(_, given)| *given == number);
            found.map(|(name, _)| name.as_str().into()).ok_or_else(|| Error::Corrupt("no name".to_owned()))
        };
        numbers.iter().map(name).collect()
    }
}

/// The next number of a name.
fn next(last: &mut u64) -> u64 {
    *last = (*last).max(MAX_ID + 1) + 1;
    *last
}
