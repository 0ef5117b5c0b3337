//! Kinds of content: a number for each name, all of them in memory.
//!
//! As with names of the application, a change holds the numbers of the kinds that it mentions, and has their rows until one
//! such change is written. A refused change leaves no kind.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;

use crate::Rocks;
use crate::memory::kinds::Sort;
use crate::rows::batch::WriteBatch;
use crate::rows::tables::KINDS;
use crate::rows::walk::go_on;
use model::error::{Error, Result};
use model::store::too_many_kinds;
use model::{BUILT_IN_KINDS, KindId, MOST_KINDS};

/// The numbers of all kinds that are not built in.
#[derive(Debug, Default)]
pub(crate) struct ContentKinds {
    given: RwLock<HashMap<Box<str>, Kind>>,
    /// How many of them have no row yet, so that most changes take no lock.
    unwritten: AtomicUsize,
}

#[derive(Debug, Clone, Copy)]
struct Kind {
    id: KindId,
    /// The changes under way that hold it; it is forgotten when they have ended and none has written its row.
    holders: usize,
    is_written: bool,
}

/// The rows of new kinds in a change that is under way.
#[must_use = "the kinds count as not written"]
pub(crate) struct KindRows {
    of: Arc<ContentKinds>,
    kinds: Vec<KindId>,
}

impl KindRows {
    /// The change is written, or has failed.
    pub(crate) fn end(self, is_written: bool) {
        if self.kinds.is_empty() {
            return;
        }
        self.of.change(|given| {
            given.retain(|_, kind| {
                if self.kinds.contains(&kind.id) {
                    kind.is_written |= is_written;
                    kind.holders = kind.holders.saturating_sub(1);
                }
                kind.is_written || kind.holders > 0
            });
        });
    }
}

impl ContentKinds {
    fn change<T>(&self, change: impl FnOnce(&mut HashMap<Box<str>, Kind>) -> T) -> T {
        let mut given = self.given.write();
        let result = change(&mut given);
        self.unwritten.store(given.values().filter(|kind| !kind.is_written).count(), Ordering::Release);
        result
    }

    fn written(&self, kind: &str) -> Option<KindId> {
        KindId::built_in(kind)
            .or_else(|| self.given.read().get(kind).filter(|kind| kind.is_written).map(|kind| kind.id))
    }
}

impl Rocks {
    /// See [`Contents::hold_kinds`](model::store::Contents::hold_kinds).
    pub(crate) fn hold_numbers_of_kinds(&self, kinds: &[&str]) -> Result<Vec<KindId>> {
        if let Some(written) = kinds.iter().map(|kind| self.content_kinds.written(kind)).collect() {
            return Ok(written);
        }
        self.content_kinds.change(|given| {
            let taken: BTreeSet<_> = given.values().map(|kind| usize::from(kind.id.0)).collect();
            let mut free = (BUILT_IN_KINDS.len()..MOST_KINDS).filter(|number| !taken.contains(number));
            let mut new = HashMap::new();
            for kind in kinds.iter().filter(|kind| KindId::built_in(kind).is_none() && !given.contains_key(**kind)) {
                if !new.contains_key(*kind) {
                    let number = free.next().and_then(|number| u8::try_from(number).ok());
                    new.insert(*kind, KindId(number.ok_or_else(|| too_many_kinds(kind))?));
                }
            }
            let new = new.into_iter().map(|(kind, id)| (kind.into(), Kind { id, holders: 0, is_written: false }));
            given.extend(new);
            let hold = |kind: &&str| match (KindId::built_in(kind), given.get_mut(*kind)) {
                (Some(id), _) => Ok(id),
                (None, Some(held)) => {
                    held.holders += 1;
                    Ok(held.id)
                }
                (None, None) => Err(Error::Corrupt("a held kind".to_owned())),
            };
            kinds.iter().map(hold).collect()
        })
    }

    /// See [`Contents::release_kinds`](model::store::Contents::release_kinds).
    pub(crate) fn release_numbers_of_kinds(&self, kinds: &[&str]) {
        if self.content_kinds.unwritten.load(Ordering::Acquire) == 0 {
            return;
        }
        self.content_kinds.change(|given| {
            for kind in kinds {
                let Some(held) = given.get_mut(*kind).filter(|held| !held.is_written) else { continue };
                held.holders = held.holders.saturating_sub(1);
                if held.holders == 0 {
                    given.remove(*kind);
                }
            }
        });
    }

    /// Adds to a change the rows of the kinds that it mentions, as far as they are not written yet.
    pub(crate) fn add_kinds(&self, change: &mut WriteBatch, mentioned: impl IntoIterator<Item = KindId>) -> KindRows {
        let mut rows = KindRows { of: Arc::clone(&self.content_kinds), kinds: Vec::new() };
        if self.content_kinds.unwritten.load(Ordering::Acquire) == 0 {
            return rows;
        }
        let mentioned: BTreeSet<_> = mentioned.into_iter().collect();
        // The rows hold the kinds, too, until the change has ended.
        let mut given = self.content_kinds.given.write();
        for (name, kind) in given.iter_mut().filter(|(_, kind)| !kind.is_written && mentioned.contains(&kind.id)) {
            change.put(KINDS, [Sort::Content as u8, kind.id.0], name.as_bytes());
            kind.holders += 1;
            rows.kinds.push(kind.id);
        }
        drop(given);
        rows
    }

    /// See [`Contents::known_kinds`](model::store::Contents::known_kinds).
    pub(crate) fn known_numbers_of_kinds(&self, kinds: &[&str]) -> Vec<Option<KindId>> {
        kinds.iter().map(|kind| self.content_kinds.written(kind)).collect()
    }

    /// See [`Contents::kind_names`](model::store::Contents::kind_names).
    pub(crate) fn names_of_kinds(&self) -> Vec<String> {
        let mut names: Vec<_> = BUILT_IN_KINDS.map(str::to_owned).into();
        for (name, kind) in self.content_kinds.given.read().iter() {
            let place = usize::from(kind.id.0);
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
            given.insert(kind.into(), Kind { id: KindId(number), holders: 0, is_written: true });
            go_on(true)
        })
    }
}
