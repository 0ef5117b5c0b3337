//! Kinds of content: a number for each name, all of them in memory.
//!
//! As with names of the application, a kind gets its number from a change, and the next write of this change has its row.

use std::collections::HashMap;

use parking_lot::{Mutex, RwLock};

use crate::Rocks;
use crate::memory::kinds::Sort;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::KINDS;
use crate::rows::walk::go_on;
use model::error::{Error, Result};
use model::store::too_many_kinds;
use model::{BUILT_IN_KINDS, KindId, MOST_KINDS};

/// Kinds with their numbers.
pub(crate) type Given = HashMap<Box<str>, KindId>;

/// The numbers of all kinds that are not built in.
#[derive(Debug, Default)]
pub(crate) struct ContentKinds {
    /// Those with rows, also of a group that is not written yet: a reader that sees an item knows its kind.
    given: RwLock<Given>,
    /// Those of the present change that no write has.
    new: Mutex<Given>,
}

impl ContentKinds {
    fn given(&self, kind: &str) -> Option<KindId> {
        KindId::built_in(kind).or_else(|| self.given.read().get(kind).copied())
    }

    /// Ends a change: the numbers that no write has are free again.
    pub(crate) fn end_change(&self) {
        self.new.lock().clear();
    }

    /// Takes back kinds of a write that has failed.
    pub(crate) fn take_back(&self, kinds: &Given) {
        self.given.write().retain(|kind, _| !kinds.contains_key(kind));
    }
}

impl Rocks {
    /// See [`Contents::give_kinds`](model::store::Contents::give_kinds).
    pub(crate) fn give_numbers_to_kinds(&self, kinds: &[&str]) -> Result<Vec<KindId>> {
        if let Some(given) = kinds.iter().map(|kind| self.content_kinds.given(kind)).collect() {
            return Ok(given);
        }
        let mut new = self.content_kinds.new.lock();
        let mut all: Given =
            self.content_kinds.given.read().iter().chain(new.iter()).map(|(k, id)| (k.clone(), *id)).collect();
        let mut added = Given::new();
        let mut give = |kind: &&str| {
            if let Some(id) = KindId::built_in(kind).or_else(|| all.get(*kind).copied()) {
                return Ok(id);
            }
            let is_free = |number: &usize| all.values().all(|id| usize::from(id.0) != *number);
            let free = (BUILT_IN_KINDS.len()..MOST_KINDS).find(is_free).and_then(|number| u8::try_from(number).ok());
            let id = KindId(free.ok_or_else(|| too_many_kinds(kind))?);
            all.insert((*kind).into(), id);
            added.insert((*kind).into(), id);
            Ok(id)
        };
        let ids = kinds.iter().map(&mut give).collect::<Result<_>>()?;
        new.extend(added);
        Ok(ids)
    }

    /// Adds to a write of a change the rows of the kinds that got numbers for it, and returns these kinds.
    pub(crate) fn add_kinds(&self, change: &mut WriteBatch) -> Given {
        let new = std::mem::take(&mut *self.content_kinds.new.lock());
        for (name, id) in &new {
            change.put(KINDS, [Sort::Content as u8, id.0], name.as_bytes());
        }
        if !new.is_empty() {
            self.content_kinds.given.write().extend(new.clone());
        }
        new
    }

    /// See [`Contents::known_kinds`](model::store::Contents::known_kinds).
    pub(crate) fn known_numbers_of_kinds(&self, kinds: &[&str]) -> Vec<Option<KindId>> {
        kinds.iter().map(|kind| self.content_kinds.given(kind)).collect()
    }

    /// See [`Contents::kind_names`](model::store::Contents::kind_names).
    pub(crate) fn names_of_kinds(&self) -> Vec<String> {
        let mut names: Vec<_> = BUILT_IN_KINDS.map(str::to_owned).into();
        for (name, id) in self.content_kinds.given.read().iter().chain(self.content_kinds.new.lock().iter()) {
            let place = usize::from(id.0);
            names.resize(names.len().max(place + 1), String::new());
            names[place] = name.to_string();
        }
        names
    }

    /// Reads the table at start.
    pub(crate) fn load_content_kinds(&self) -> Result<()> {
        let mut given = self.content_kinds.given.write();
        self.each_row(KINDS, &[], |key, name| {
            let [Sort::CONTENT, number] = *key else { return go_on(key.first() == Some(&Sort::CONTENT)) };
            let kind = str::from_utf8(name).map_err(|_| Error::Corrupt("the names of kinds".to_owned()))?;
            given.insert(kind.into(), KindId(number));
            go_on(true)
        })
    }
}
