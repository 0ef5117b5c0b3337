//! Rows by their keys, and walks over whole tables.

use std::ops::ControlFlow;

use rocksdb::{DBRawIterator, ReadOptions, Snapshot};

use super::keys;
use super::staged::{Row, Rows};
use super::tables::Table;
use super::walk::MOST_KEYS;
use crate::{Rocks, reading, storage};
use model::UserId;
use model::error::{Error, Result};
use model::store::Tier;

/// Bytes read ahead in a walk over a whole table.
pub(crate) const READ_AHEAD: usize = 1 << 20;

impl Rocks {
    pub(crate) fn get(&self, table: Table, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>> {
        self.get_opt(table, key, &reading(tier))
    }

    fn get_opt(&self, table: Table, key: &[u8], options: &ReadOptions) -> Result<Option<Row<'_>>> {
        if self.highest.lacks(table, key) {
            return Ok(None);
        }
        self.with_staged(table, key, || {
            let row = self.db.get_pinned_cf_opt(self.family(table)?, key, options).map_err(storage)?;
            Ok(row.map(Row::Written))
        })
    }

    /// A row with the changes of the group on top.
    fn with_staged<'a>(
        &self,
        table: Table,
        key: &[u8],
        written: impl FnOnce() -> Result<Option<Row<'a>>>,
    ) -> Result<Option<Row<'a>>> {
        match &self.group {
            Some(group) => group.lock().staged.over(table, key, written),
            None => written(),
        }
    }

    /// A walk over the rows of a table.
    pub(crate) fn rows(&self, table: Table, options: ReadOptions) -> Result<Rows<'_>> {
        let staged = self.group.as_ref().map_or(Ok(None), |group| group.lock().staged.table(table))?;
        Ok(Rows::new(self.db.raw_iterator_cf_opt(self.family(table)?, options), table, staged))
    }

    /// The greatest id of a table of ids, 0 without any; `None` if it cannot be read.
    pub(crate) fn highest_id(&self, table: Table) -> Option<u64> {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        let mut rows = self.rows(table, options).ok()?;
        rows.seek_to_last();
        match rows.key() {
            Some(key) => keys::number(key),
            None => rows.status().ok().map(|()| 0),
        }
    }

    /// The value of a row, decoded.
    pub(crate) fn read<T>(
        &self,
        table: Table,
        key: &[u8],
        tier: Tier,
        decode: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        self.get(table, key, tier)?.map(|row| decode(&row)).transpose()
    }

    /// Rows in the order of their keys.
    pub(crate) fn get_many<K: AsRef<[u8]>>(
        &self,
        table: Table,
        keys: impl IntoIterator<Item = K>,
        tier: Tier,
    ) -> Result<Vec<Option<Row<'_>>>> {
        self.get_many_opt(table, keys, tier, &reading(tier))
    }

    pub(crate) fn get_many_opt<K: AsRef<[u8]>>(
        &self,
        table: Table,
        keys: impl IntoIterator<Item = K>,
        tier: Tier,
        options: &ReadOptions,
    ) -> Result<Vec<Option<Row<'_>>>> {
        if tier == Tier::Memory {
            // One by one: the engine's MultiGet goes to the disk for blocks in any tier. Where it may not, it answers a
            // key that a filter lets pass with an empty value.
            let mut left = MOST_KEYS;
            let get = |key: K| {
                left = usize::checked_sub(left, 1).ok_or(Error::NotCached)?;
                self.get_opt(table, key.as_ref(), options)
            };
            return keys.into_iter().map(get).collect();
        }
        let keys: Vec<_> = keys.into_iter().collect();
        if let [key] = &keys[..] {
            return Ok(vec![self.get_opt(table, key.as_ref(), options)?]);
        }
        if keys.iter().all(|key| self.highest.lacks(table, key.as_ref())) {
            return Ok(keys.iter().map(|_| None).collect());
        }
        let found = self.db.batched_multi_get_cf_opt(self.family(table)?, &keys, false, options);
        let rows = keys.iter().zip(found).map(|(key, row)| {
            let row = row.map_err(storage)?.map(Row::Written);
            self.with_staged(table, key.as_ref(), || Ok(row))
        });
        rows.collect()
    }

    /// The values of rows, decoded, in the order of their keys.
    pub(crate) fn read_many<K: AsRef<[u8]>, T>(
        &self,
        table: Table,
        keys: impl IntoIterator<Item = K>,
        tier: Tier,
        decode: impl Fn(&[u8]) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let rows = self.get_many(table, keys, tier)?;
        rows.into_iter().map(|row| row.map(|row| decode(&row)).transpose()).collect()
    }

    /// An iterator over a whole table, as of a snapshot or as it is now. It leaves the cache to others.
    pub(crate) fn whole<'a>(&'a self, table: Table, snapshot: Option<&'a Snapshot<'_>>) -> Result<DBRawIterator<'a>> {
        let mut options = scanning();
        options.set_readahead_size(READ_AHEAD);
        let family = self.family(table)?;
        Ok(match snapshot {
            Some(snapshot) => snapshot.raw_iterator_cf_opt(family, options),
            None => self.db.raw_iterator_cf_opt(family, options),
        })
    }

    /// Visits the rows of a table without partitions, from a key on, until `visit` breaks.
    pub(crate) fn each_row(
        &self,
        table: Table,
        from: &[u8],
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        let mut rows = self.rows(table, options)?;
        rows.seek(from);
        while let Some((key, value)) = rows.item() {
            if visit(key, value)?.is_break() {
                return Ok(());
            }
            rows.next();
        }
        rows.status()
    }

    /// Visits the rows of a table of one row a user, ascending from the users above `after`, until `visit` breaks.
    pub(crate) fn each_user<V>(
        &self,
        table: Table,
        after: Option<UserId>,
        decode: impl Fn(&[u8]) -> Result<V>,
        mut visit: impl FnMut(UserId, V) -> ControlFlow<()>,
    ) -> Result<()> {
        // No user has the greatest id.
        let from = keys::id(after.map_or(0, |after| after.get().saturating_add(1)));
        self.each_row(table, &from, |key, value| {
            let user = keys::number(key).and_then(|raw| UserId::new(raw).ok());
            Ok(visit(user.ok_or_else(|| Error::Corrupt(format!("a key in {table}")))?, decode(value)?))
        })
    }
}

/// Options for a walk over a whole table that leaves the cache to others.
pub(crate) fn scanning() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_total_order_seek(true);
    options.fill_cache(false);
    options
}
