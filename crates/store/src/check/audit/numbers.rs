//! Names and their numbers: the two tables mirror each other, and each id above those of numbers has a name.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::content::read;
use super::names::{ids, one};
use super::{Audit, Row, Wanted, Way};
use crate::memory::kinds::Sort;
use crate::rows::tables::{ALL, CONTENT, EVENTS, KINDS, NAMES, NAMES_BY_NUMBER, Table};
use crate::rows::{keys, values};
use model::error::Result;
use model::store::Tier;
use model::{BUILT_IN_KINDS, MAX_ID};

impl Audit<'_> {
    /// Each name has a number of its own, and each number its name.
    pub(super) fn names(&mut self) -> Result<()> {
        self.mirror(NAMES, Way::Out, |row| {
            let number = values::read_given(&row.value).ok().filter(|number| *number > MAX_ID)?;
            str::from_utf8(&row.key).ok()?;
            Some(vec![Wanted::new(NAMES_BY_NUMBER, keys::id(number), &*row.key)])
        })?;
        self.mirror(NAMES_BY_NUMBER, Way::Back, |row| {
            str::from_utf8(&row.value).ok()?;
            if row.value.is_empty() {
                // The name was erased with its user.
                return Some(Vec::new());
            }
            Some(vec![Wanted::new(NAMES, &*row.value, keys::id(one(&row.key)?))])
        })
    }

    /// Each number of a kind has a name, and no two of one sort have one.
    pub(super) fn kinds(&mut self) -> Result<()> {
        let seen = RefCell::new(BTreeSet::new());
        self.mirror(KINDS, Way::Back, |row| {
            let [sort, number] = *row.key else { return None };
            let is_built_in = sort == Sort::CONTENT && usize::from(number) < BUILT_IN_KINDS.len();
            let name = str::from_utf8(&row.value).ok().filter(|name| !name.is_empty() && !is_built_in)?;
            seen.borrow_mut().insert((sort, name.to_owned())).then(Vec::new)
        })
    }

    /// Looks up the ids in tables that no other part of the audit walks over.
    pub(super) fn other_ids(&mut self) -> Result<()> {
        let mut names = self.store.whole(NAMES)?;
        names.seek_to_first();
        if names.item().is_none() {
            return names.status();
        }
        for table in ALL.iter().filter(|table| **table != EVENTS) {
            if !self.looked.contains(table.name) {
                self.each_batch(table, |_, _| Ok(()))?;
            }
        }
        Ok(())
    }

    /// Each number of a name in these rows has a name.
    pub(super) fn look_up_ids(&mut self, table: Table, rows: &[Row]) -> Result<()> {
        let mut found = Vec::new();
        for row in rows {
            let in_key = ids(table, &row.key).into_iter();
            let content = if table == CONTENT { read(row).map(|stored| stored.content) } else { None };
            let in_value = content.iter().flat_map(|content| {
                let ids = [Some(content.author.get()), content.ref_id.map(|id| id.get())].into_iter().flatten();
                ids.chain(content.to.iter().chain(&content.mentions).map(|user| user.get()))
            });
            found.extend(in_key.chain(in_value).filter(|id| *id > MAX_ID).map(|id| (id, row)));
        }
        let distinct: BTreeSet<_> = found.iter().map(|(id, _)| *id).collect();
        let names = self.store.get_many(NAMES_BY_NUMBER, distinct.iter().copied().map(keys::id), Tier::Disk)?;
        let nameless: BTreeSet<_> =
            distinct.into_iter().zip(names).filter(|(_, name)| name.is_none()).map(|(id, _)| id).collect();
        for (id, row) in found.into_iter().filter(|(id, _)| nameless.contains(id)) {
            self.has(table, &row.key, &format!(", but number {id} has no name"));
        }
        Ok(())
    }
}
