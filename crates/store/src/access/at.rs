//! Rows by their keys, and walks over whole tables.

use std::ops::ControlFlow;

use super::staged::Rows;
use crate::Store;
use crate::kv::{Reads, Row, Scope};
use crate::rows::keys;
use crate::rows::tables::Table;
use model::error::{Error, Result};
use model::store::Tier;

/// Most keys that a read from memory looks up in one call, and rows that it visits: other requests wait for its thread. A larger
/// read would take no more memory, only more time.
pub(crate) const MOST_KEYS: usize = 64;
pub(crate) const MOST_ROWS: usize = 512;

/// The rows as they are now or as of an instant, with the changes of the group on top.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    store: &'a Store,
    reads: &'a dyn Reads,
    pub(crate) tier: Tier,
}

impl<'a> At<'a> {
    pub(crate) fn get(&self, table: Table, key: &[u8]) -> Result<Option<Row<'a>>> {
        if self.store.highest.lacks(table, key) {
            return Ok(None);
        }
        self.with_staged(table, key, || self.reads.get(table, key, self.tier))
    }

    /// A row with the changes of the group on top.
    fn with_staged(
        &self,
        table: Table,
        key: &[u8],
        written: impl FnOnce() -> Result<Option<Row<'a>>>,
    ) -> Result<Option<Row<'a>>> {
        match &self.store.group {
            Some(group) => group.lock().staged.over(table, key, written),
            None => written(),
        }
    }

    /// Rows in the order of their keys.
    pub(crate) fn get_many<K: AsRef<[u8]>>(
        &self,
        table: Table,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<Row<'a>>>> {
        if self.tier == Tier::Memory {
            // One by one: RocksDB's MultiGet reads blocks from the disk even if it may not. If nothing else is left, it gives an
            // empty value for a key that its filter lets pass.
            let mut left = MOST_KEYS;
            let get = |key: K| {
                left = usize::checked_sub(left, 1).ok_or(Error::NotCached)?;
                self.get(table, key.as_ref())
            };
            return keys.into_iter().map(get).collect();
        }
        let keys: Vec<_> = keys.into_iter().collect();
        if let [key] = &keys[..] {
            return Ok(vec![self.get(table, key.as_ref())?]);
        }
        if keys.iter().all(|key| self.store.highest.lacks(table, key.as_ref())) {
            return Ok(keys.iter().map(|_| None).collect());
        }
        let keys: Vec<_> = keys.iter().map(AsRef::as_ref).collect();
        let found = self.reads.get_many(table, &keys)?;
        keys.iter().zip(found).map(|(key, row)| self.with_staged(table, key, || Ok(row))).collect()
    }

    /// The results of `read` for the rows whose keys begin with `prefix`, from a key on; at most `limit` rows.
    pub(crate) fn beginning<T>(
        &self,
        (table, scope): (Table, Scope<'_>),
        prefix: &[u8],
        from: &[u8],
        limit: usize,
        mut read: impl FnMut(&[u8], &[u8]) -> Result<T>,
    ) -> Result<Vec<T>> {
        let (mut rows, mut found) = (self.rows(table, scope)?, Vec::new());
        rows.seek(from);
        while found.len() < limit
            && let Some((key, value)) = rows.item().filter(|(key, _)| key.starts_with(prefix))
        {
            if self.tier == Tier::Memory && found.len() == MOST_ROWS {
                return Err(Error::NotCached);
            }
            found.push(read(key, value)?);
            rows.next();
        }
        rows.status()?;
        Ok(found)
    }

    /// A walk over the rows of a table.
    pub(crate) fn rows(&self, table: Table, scope: Scope<'_>) -> Result<Rows<'a>> {
        let staged = self.store.group.as_ref().and_then(|group| group.lock().staged.table(table));
        Ok(Rows::new(self.reads.walk(table, self.tier, scope)?, table, staged))
    }
}

impl Store {
    /// The rows as they are now.
    pub(crate) fn now(&self, tier: Tier) -> At<'_> {
        At { store: self, reads: &*self.kv, tier }
    }

    /// The rows as of an instant.
    pub(crate) fn at<'a>(&'a self, snapshot: &'a dyn Reads, tier: Tier) -> At<'a> {
        At { store: self, reads: snapshot, tier }
    }

    pub(crate) fn get(&self, table: Table, key: &[u8], tier: Tier) -> Result<Option<Row<'_>>> {
        self.now(tier).get(table, key)
    }

    /// The greatest id of a table of ids, 0 without any; `None` if it cannot be read.
    pub(crate) fn highest_id(&self, table: Table) -> Option<u64> {
        let mut rows = self.now(Tier::Disk).rows(table, Scope::Table).ok()?;
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
        self.now(tier).get_many(table, keys)
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

    /// A walk over a whole table that leaves the cache to others.
    pub(crate) fn whole(&self, table: Table) -> Result<Rows<'_>> {
        self.now(Tier::Disk).rows(table, Scope::Once)
    }

    /// Visits the rows of a whole table, from a key on, until `visit` breaks.
    pub(crate) fn each_row(
        &self,
        table: Table,
        from: &[u8],
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut rows = self.now(Tier::Disk).rows(table, Scope::Table)?;
        rows.seek(from);
        while let Some((key, value)) = rows.item() {
            if visit(key, value)?.is_break() {
                return Ok(());
            }
            rows.next();
        }
        rows.status()
    }
}
