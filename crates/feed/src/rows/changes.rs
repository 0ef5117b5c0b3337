//! Changes of rows, with all that follows from them.

use super::keys::{self, Key};
use super::mirrors::{Fact, Facts};
use super::table::{AnyTable, Table};
use super::tables::{COUNTS, mirrors_of};
use super::values;
use super::values::Value;
use kv::WriteBatch;
use model::error::Result;

/// Changes a row from a value to another one (`None` for no row), with all rows and counts of users that follow from it.
pub(crate) fn change_row(
    batch: &mut WriteBatch,
    table: AnyTable,
    key: impl AsRef<[u8]>,
    values: [Option<Vec<u8>>; 2],
    facts: &dyn Facts,
) -> Result<()> {
    let key = key.as_ref();
    let rows = values.each_ref().map(|value| value.as_deref().map(|value| Fact::new(key, value)));
    for (to, mirror) in mirrors_of(table) {
        for difference in mirror.differences(facts, rows)? {
            count_row(batch, to, &difference.key, [difference.was_there, difference.value.is_some()]);
            batch.set(to, difference.key, difference.value);
        }
    }
    count_row(batch, table, key, values.each_ref().map(Option::is_some));
    let [_, after] = values;
    batch.set(table, key, after);
    Ok(())
}

/// Adds the step of a count that a row adds to, if it comes or goes.
pub(crate) fn count_row(batch: &mut WriteBatch, table: AnyTable, key: &[u8], is_there: [bool; 2]) {
    let [before, after] = is_there.map(i64::from);
    if let Some((counter, user)) = table.counter.zip(keys::number(key)).filter(|_| before != after) {
        batch.merge(&COUNTS, keys::of((user, counter)), values::count(after - before));
    }
}

impl<K, V: Value> Table<K, V> {
    /// Changes a row from a value to another one (`None` for no row), with all rows and counts that follow from it.
    pub(crate) fn change(
        self,
        change: &mut WriteBatch,
        key: impl Key<K>,
        [before, after]: [Option<&V>; 2],
        facts: &dyn Facts,
    ) -> Result<()> {
        let value = |value: Option<&V>| value.map(V::bytes).transpose();
        change_row(change, self.spec, key.bytes(), [value(before)?, value(after)?], facts)
    }
}
