//! Kinds of content: a number for each name, all of them in memory.

use std::collections::HashMap;

use parking_lot::RwLock;
use rocksdb::WriteBatch;

use crate::Rocks;
use crate::memory::kinds::Sort;
use crate::rows::tables::KINDS;
use crate::rows::walk::go_on;
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::too_many_kinds;
use model::{BUILT_IN_KINDS, KindId, MOST_KINDS};

/// The numbers of all kinds that are not built in.
#[derive(Debug, Default)]
pub(crate) struct ContentKinds(RwLock<HashMap<Box<str>, Kind>>);

#[derive(Debug, Clone, Copy)]
struct Kind {
    id: KindId,
    /// Whether the row is written. If a write failed, the row may be there all the same, so the kind keeps its number.
    is_written: bool,
}

impl Rocks {
    /// See [`Contents::kind_ids`](model::store::Contents::kind_ids).
    pub(crate) fn numbers_of_kinds(&self, kinds: &[&str]) -> Result<Vec<KindId>> {
        let known: Option<Vec<_>> = {
            let numbers = self.content_kinds.0.read();
            let number = |kind: &&str| {
                let given = || numbers.get(*kind).filter(|known| known.is_written).map(|known| known.id);
                KindId::built_in(kind).or_else(given)
            };
            kinds.iter().map(number).collect()
        };
        known.map_or_else(|| self.give_kinds(kinds), Ok)
    }

    /// See [`Contents::known_kinds`](model::store::Contents::known_kinds).
    pub(crate) fn known_numbers_of_kinds(&self, kinds: &[&str]) -> Vec<Option<KindId>> {
        let numbers = self.content_kinds.0.read();
        let number = |kind: &&str| KindId::built_in(kind).or_else(|| numbers.get(*kind).map(|known| known.id));
        kinds.iter().map(number).collect()
    }

    /// See [`Contents::kind_names`](model::store::Contents::kind_names).
    pub(crate) fn names_of_kinds(&self) -> Vec<String> {
        let numbers = self.content_kinds.0.read();
        let mut names: Vec<_> = numbers.iter().map(|(name, known)| (known.id, name.to_string())).collect();
        names.sort_unstable();
        let built_in = BUILT_IN_KINDS.into_iter().map(str::to_owned);
        built_in.chain(names.into_iter().map(|(_, name)| name)).collect()
    }

    fn give_kinds(&self, kinds: &[&str]) -> Result<Vec<KindId>> {
        let mut numbers = self.content_kinds.0.write();
        let mut new: Vec<(&str, Kind)> = Vec::new();
        let is_new = |kind: &&str| KindId::built_in(kind).is_none() && !numbers.contains_key(*kind);
        for kind in kinds.iter().copied().filter(is_new) {
            if !new.iter().any(|(other, _)| *other == kind) {
                let id = further_kind(BUILT_IN_KINDS.len() + numbers.len() + new.len(), kind)?;
                new.push((kind, Kind { id, is_written: false }));
            }
        }
        numbers.extend(new.into_iter().map(|(kind, known)| (kind.into(), known)));
        let (table, mut change) = (self.family(KINDS)?, WriteBatch::default());
        // All of them: so numbers have no gaps on disk, and none is given twice after a start.
        for (kind, known) in numbers.iter().filter(|(_, known)| !known.is_written) {
            change.put_cf(table, [Sort::Content as u8, known.id.0], kind.as_bytes());
        }
        if !change.is_empty() {
            self.follow_up(Write::NameKinds, change)?;
        }
        numbers.values_mut().for_each(|known| known.is_written = true);
        let id = |kind: &&str| KindId::built_in(kind).or_else(|| numbers.get(*kind).map(|known| known.id));
        Ok(kinds.iter().map(id).map(Option::unwrap_or_default).collect())
    }

    /// Reads the table at start.
    pub(crate) fn load_content_kinds(&self) -> Result<()> {
        let mut numbers = self.content_kinds.0.write();
        self.each_row(KINDS, &[], |key, name| {
            let [Sort::CONTENT, number] = *key else { return go_on(key.first() == Some(&Sort::CONTENT)) };
            let kind = str::from_utf8(name).map_err(|_| Error::Corrupt("the names of kinds".to_owned()))?;
            numbers.insert(kind.into(), Kind { id: KindId(number), is_written: true });
            go_on(true)
        })
    }
}

/// The number of a further kind; `too_many_kinds` if it is too large.
fn further_kind(number: usize, kind: &str) -> Result<KindId> {
    match u8::try_from(number) {
        Ok(number) if usize::from(number) < MOST_KINDS => Ok(KindId(number)),
        _ => Err(too_many_kinds(kind)),
    }
}
