//! Numbers of names.

use std::sync::Arc;

use model::MAX_ID;
use model::error::{Error, Result};
use model::store::{Names, Tier};

use super::{Double, State};

impl Names for Double {
    fn numbers(&self, names: &[&str], _tier: Tier) -> Result<Vec<Option<u64>>> {
        let state = self.state();
        Ok(names.iter().map(|name| state.names.get(*name).copied()).collect())
    }

    fn give_numbers(&self, names: &[&str]) -> Result<Vec<u64>> {
        let State { names: given, new_names, last_name, .. } = &mut *self.state();
        let number = |name: &&str| {
            *given.entry((*name).to_owned()).or_insert_with(|| {
                *last_name = (*last_name).max(MAX_ID + 1) + 1;
                new_names.push((*name).to_owned());
                *last_name
            })
        };
        Ok(names.iter().map(number).collect())
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
