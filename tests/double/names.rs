//! Numbers of names. A change that is refused keeps its names here.

use std::sync::Arc;

use tideline::error::{Error, Result};
use tideline::model::MAX_ID;
use tideline::store::{Hold, Names, Tier};

use super::{Double, State};

impl Names for Double {
    fn numbers(&self, names: &[&str], _tier: Tier) -> Result<Vec<Option<u64>>> {
        let state = self.state();
        Ok(names.iter().map(|name| state.names.get(*name).copied()).collect())
    }

    fn hold_numbers(&self, names: &[&str], hold: Hold) -> Result<Vec<u64>> {
        let mut state = self.state();
        let State { names: given, reserved, last_name, .. } = &mut *state;
        let mut number = |name: &&str| {
            if let Some(number) = given.get(*name) {
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
        for name in names.iter().filter(|_| hold == Hold::Stream) {
            if let Some((_, holders)) = state.reserved.get_mut(*name) {
                *holders -= 1;
                if *holders == 0 {
                    state.reserved.remove(*name);
                }
            }
        }
    }

    fn reserved_number(&self, name: &str) -> Option<u64> {
        self.state().reserved.get(name).map(|(number, _)| *number)
    }

    fn write_names(&self) -> Result<()> {
        Ok(())
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
