//! Rows by their keys, and walks over whole tables.

use std::ops::ControlFlow;

use parking_lot::Mutex;

use super::greatest_keys::Highest;
use super::staged::Rows;
use super::staged_group::Group;
use crate::Tier;
use crate::batch::WriteBatch;
use crate::family::Family;
use crate::view::{Row, Scope, View};
use model::error::{Error, Result};

/// Most keys that a read from memory looks up in one call, and rows that it visits: other requests wait for its thread. A larger
/// read would take no more memory, only more time.
pub const MOST_KEYS: usize = 64;
/// See [`MOST_KEYS`].
pub const MOST_ROWS: usize = 512;

/// Most rows that are deleted one by one. A deleted range costs later reads more than some deleted rows.
const FEW: usize = 256;

/// The rows as they are now or as of an instant, with the changes of the group on top.
#[derive(Clone, Copy)]
pub struct At<'a> {
    pub(crate) highest: &'a Highest,
    pub(crate) group: Option<&'a Mutex<Group>>,
    pub(crate) reads: View<'a>,
    /// How far reads go.
    pub tier: Tier,
}

impl<'a> At<'a> {
    /// A row.
    pub fn get(&self, family: &'static Family, key: &[u8]) -> Result<Option<Row<'a>>> {
        if self.highest.lacks(family, key) {
            return Ok(None);
        }
        self.with_staged(family, key, || self.reads.get(family, key, self.tier))
    }

    /// Whether a table surely has no row with a key.
    pub fn lacks(&self, family: &Family, key: &[u8]) -> bool {
        self.highest.lacks(family, key)
    }

    /// A row with the changes of the group on top.
    fn with_staged(
        &self,
        family: &'static Family,
        key: &[u8],
        written: impl FnOnce() -> Result<Option<Row<'a>>>,
    ) -> Result<Option<Row<'a>>> {
        match self.group {
            Some(group) => group.lock().staged.over(family, key, written),
            None => written(),
        }
    }

    /// Rows in the order of their keys.
    pub fn get_many<K: AsRef<[u8]>>(
        &self,
        family: &'static Family,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<Option<Row<'a>>>> {
        if self.tier == Tier::Memory {
            // One by one: RocksDB's MultiGet reads blocks from the disk even if it may not. If nothing else is left, it gives an
            // empty value for a key that its filter lets pass.
            let mut left = MOST_KEYS;
            let get = |key: K| {
                left = usize::checked_sub(left, 1).ok_or(Error::NotCached)?;
                self.get(family, key.as_ref())
            };
            return keys.into_iter().map(get).collect();
        }
        let keys: Vec<_> = keys.into_iter().collect();
        if let [key] = &keys[..] {
            return Ok(vec![self.get(family, key.as_ref())?]);
        }
        if keys.iter().all(|key| self.highest.lacks(family, key.as_ref())) {
            return Ok(keys.iter().map(|_| None).collect());
        }
        let keys: Vec<_> = keys.iter().map(AsRef::as_ref).collect();
        let found = self.reads.get_many(family, &keys)?;
        keys.iter().zip(found).map(|(key, row)| self.with_staged(family, key, || Ok(row))).collect()
    }

    /// The results of `read` for the rows whose keys begin with `prefix`, from a key on; at most `limit` rows.
    pub fn beginning<T>(
        &self,
        (family, scope): (&'static Family, Scope<'_>),
        prefix: &[u8],
        from: &[u8],
        limit: usize,
        mut read: impl FnMut(&[u8], &[u8]) -> Result<T>,
    ) -> Result<Vec<T>> {
        let (mut rows, mut found) = (self.rows(family, scope)?, Vec::new());
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
    pub fn rows(&self, family: &'static Family, scope: Scope<'_>) -> Result<Rows<'a>> {
        let staged = self.group.and_then(|group| group.lock().staged.table(family));
        Ok(Rows::new(self.reads.walk(family, self.tier, scope)?, family, staged))
    }

    /// Visits the rows of a whole table, from a key on, until `visit` breaks.
    pub fn each_row(
        &self,
        family: &'static Family,
        from: &[u8],
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut rows = self.rows(family, Scope::Table)?;
        rows.seek(from);
        while let Some((key, value)) = rows.item() {
            if visit(key, value)?.is_break() {
                return Ok(());
            }
            rows.next();
        }
        rows.status()
    }

    /// Removes all rows from a key on and before another one in a change. The caller ensures that no rows are added until the
    /// change is written.
    pub fn delete_rows(&self, change: &mut WriteBatch, family: &'static Family, from: &[u8], to: &[u8]) -> Result<()> {
        let mut rows = self.rows(family, Scope::Before(to))?;
        rows.seek(from);
        let mut keys: Vec<Vec<u8>> = Vec::new();
        while let Some(key) = rows.key().filter(|key| keys.len() <= FEW && *key < to) {
            keys.push(key.into());
            rows.next();
        }
        rows.status()?;
        if keys.len() > FEW {
            change.delete_range(family, from, to);
        } else {
            keys.into_iter().for_each(|key| change.delete(family, key));
        }
        Ok(())
    }
}
