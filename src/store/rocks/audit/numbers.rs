//! Names and their numbers: the two tables mirror each other, and each id above those of numbers has a name.

use std::collections::BTreeSet;

use super::super::tables::{ALL, CONTENT, EVENTS, NAMES, NAMES_BY_NUMBER, Table};
use super::super::{keys, values};
use super::content::read;
use super::names::{ids, one};
use super::{Audit, Row};
use crate::error::Result;
use crate::model::MAX_ID;
use crate::store::Tier;

impl Audit<'_> {
    /// Each name has a number of its own, not above the highest, and each number has its name.
    pub(super) fn names(&mut self) -> Result<()> {
        let highest = self.highest(NAMES)?;
        self.each_batch(NAMES, |audit, rows| {
            let number = |row: &Row| values::read_given(&row.value).ok().filter(|_| str::from_utf8(&row.key).is_ok());
            let numbered: Vec<_> = rows.iter().map(number).collect();
            let names = audit.rows_of(numbered.iter().flatten().copied())?;
            let mut names = names.into_iter();
            for (row, number) in rows.iter().zip(numbered) {
                let Some(number) = number else {
                    audit.unreadable(NAMES, row);
                    continue;
                };
                let name = names.next().flatten();
                if *row.key == *keys::HIGHEST_NUMBER {
                    continue;
                }
                if number <= MAX_ID {
                    audit.has(NAMES, &row.key, &format!(" with number {number}, which is an id of a host"));
                }
                if number > highest {
                    audit.has(NAMES, &row.key, &format!(" with number {number}, above the highest number"));
                }
                match name {
                    None => audit.lacks(NAMES_BY_NUMBER, &keys::id(number)),
                    Some(name) if name != row.key => {
                        audit.has(NAMES, &row.key, &format!(" with number {number} of another name"));
                    }
                    Some(_) => {}
                }
            }
            Ok(())
        })?;
        self.each_batch(NAMES_BY_NUMBER, |audit, rows| {
            let named: Vec<_> = rows
                .iter()
                .map(|row| one(&row.key).zip(std::str::from_utf8(&row.value).ok().filter(|name| !name.is_empty())))
                .collect();
            let names = named.iter().flatten().map(|(_, name)| name.as_bytes());
            let present = audit.store.get_many(NAMES, names, Tier::Disk)?;
            let mut present = present.into_iter();
            for (row, named) in rows.iter().zip(named) {
                let Some((number, _)) = named else {
                    audit.unreadable(NAMES_BY_NUMBER, row);
                    continue;
                };
                let given = present.next().flatten().and_then(|row| values::read_given(&row).ok());
                // A write that failed may be on the device all the same. Then the name got another number later.
                if given.is_none_or(|given| given < number) {
                    audit.has(NAMES_BY_NUMBER, &row.key, ", which does not agree with names");
                }
            }
            Ok(())
        })
    }

    /// The highest number given in a table of numbers of texts.
    pub(super) fn highest(&self, table: Table) -> Result<u64> {
        let highest = self.store.get(table, keys::HIGHEST_NUMBER, Tier::Disk)?;
        Ok(highest.and_then(|row| values::read_given(&row).ok()).unwrap_or_default())
    }

    /// Looks up the ids in tables that no other part of the audit walks over.
    pub(super) fn other_ids(&mut self) -> Result<()> {
        if self.highest(NAMES)? == 0 {
            return Ok(());
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
                [Some(content.author.get()), content.ref_id.map(|id| id.get())].into_iter().flatten()
            });
            found.extend(in_key.chain(in_value).filter(|id| *id > MAX_ID).map(|id| (id, row)));
        }
        let distinct: BTreeSet<_> = found.iter().map(|(id, _)| *id).collect();
        let names = self.rows_of(distinct.iter().copied())?;
        let nameless: BTreeSet<_> =
            distinct.into_iter().zip(names).filter(|(_, name)| name.is_none()).map(|(id, _)| id).collect();
        for (id, row) in found.into_iter().filter(|(id, _)| nameless.contains(id)) {
            self.has(table, &row.key, &format!(", but number {id} has no name"));
        }
        Ok(())
    }

    /// The names of numbers, as they are stored.
    fn rows_of(&self, numbers: impl Iterator<Item = u64>) -> Result<Vec<Option<Box<[u8]>>>> {
        let keys: Vec<_> = numbers.map(keys::id).collect();
        let rows = self.store.get_many(NAMES_BY_NUMBER, keys.iter().map(<[u8; keys::ID]>::as_slice), Tier::Disk)?;
        Ok(rows.into_iter().map(|row| row.map(|row| row[..].into())).collect())
    }
}
