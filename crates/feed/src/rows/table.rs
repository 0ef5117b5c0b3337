//! Rows by their types: the keys and values of a table, and its rows read and changed by them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use super::changes::change_row;
use super::key_types::Key;
use super::mirrors::Given;
use super::tables::{AnyTable, Spec};
use super::values::Value;
use kv::{At, WriteBatch};
use model::error::Result;

/// A table with keys of `K` and values of `V`.
pub(crate) struct Table<K, V> {
    pub(crate) spec: AnyTable,
    rows: PhantomData<fn() -> (K, V)>,
}

impl<K, V> Table<K, V> {
    pub(crate) const fn new(spec: AnyTable) -> Self {
        Self { spec, rows: PhantomData }
    }

    /// Whether there is a row with a key.
    pub(crate) fn has(self, at: At<'_>, key: impl Key<K>) -> Result<bool> {
        Ok(at.get(self.spec, key.bytes().as_ref())?.is_some())
    }

    /// For each key whether there is a row with it.
    pub(crate) fn have(self, at: At<'_>, keys: impl IntoIterator<Item = impl Key<K>>) -> Result<Vec<bool>> {
        let keys: Vec<_> = keys.into_iter().collect();
        let rows = at.get_many(self.spec, keys.iter().map(Key::bytes))?;
        Ok(rows.iter().map(Option::is_some).collect())
    }

    /// Removes a row in a change.
    pub(crate) fn delete(self, change: &mut WriteBatch, key: impl Key<K>) {
        change.delete(self.spec, key.bytes());
    }
}

impl<K, V: Value> Table<K, V> {
    /// The value of a row.
    pub(crate) fn get(self, at: At<'_>, key: impl Key<K>) -> Result<Option<V>> {
        let key = key.bytes();
        let key = key.as_ref();
        at.get(self.spec, key)?.map(|row| V::read(key, &row)).transpose()
    }

    /// The values of rows, in the order of their keys.
    pub(crate) fn get_many(self, at: At<'_>, keys: impl IntoIterator<Item = impl Key<K>>) -> Result<Vec<Option<V>>> {
        let keys: Vec<_> = keys.into_iter().collect();
        let rows = at.get_many(self.spec, keys.iter().map(Key::bytes))?;
        let values = keys.iter().zip(rows);
        values.map(|(key, row)| row.map(|row| V::read(key.bytes().as_ref(), &row)).transpose()).collect()
    }

    /// Puts a row into a change.
    pub(crate) fn put(self, change: &mut WriteBatch, key: impl Key<K>, value: &V) -> Result<()> {
        change.put(self.spec, key.bytes(), value.bytes()?);
        Ok(())
    }

    /// Puts a row into a change, or removes it (`None`).
    pub(crate) fn set(self, change: &mut WriteBatch, key: impl Key<K>, value: Option<&V>) -> Result<()> {
        change.set(self.spec, key.bytes(), value.map(V::bytes).transpose()?);
        Ok(())
    }

    /// Changes a row from a value to another one (`None` for no row), with all rows and counts that follow from it.
    pub(crate) fn change(
        self,
        change: &mut WriteBatch,
        key: impl Key<K>,
        [before, after]: [Option<&V>; 2],
        given: &Given,
    ) -> Result<()> {
        let value = |value: Option<&V>| value.map(V::bytes).transpose();
        change_row(change, self.spec, key.bytes(), [value(before)?, value(after)?], given)
    }
}

impl<K, V> Clone for Table<K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for Table<K, V> {}

impl<K, V> Deref for Table<K, V> {
    type Target = Spec;

    fn deref(&self) -> &Spec {
        self.spec
    }
}

impl<K, V> fmt::Display for Table<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spec.fmt(f)
    }
}

impl<K, V> PartialEq<Table<K, V>> for AnyTable {
    fn eq(&self, other: &Table<K, V>) -> bool {
        *self == other.spec
    }
}
