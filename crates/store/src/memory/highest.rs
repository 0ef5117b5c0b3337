//! The greatest keys of tables of ids. A new item mostly has a greater id than all others: no look-up finds a row of it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::rows::batch::WriteBatch;
use crate::rows::keys;
use crate::rows::tables::{ALL, Table};

/// For each table that declares it, an id that is not below any of its keys.
#[derive(Debug)]
pub(crate) struct Highest(Vec<AtomicU64>);

impl Default for Highest {
    /// Nothing is known.
    fn default() -> Self {
        Self(ALL.iter().map(|_| AtomicU64::new(u64::MAX)).collect())
    }
}

impl Highest {
    fn of(&self, table: Table) -> Option<&AtomicU64> {
        self.0.get(table.place).filter(|_| table.is_rising)
    }

    /// Whether a table surely has no row with a key: it is above all others.
    #[inline]
    pub(crate) fn lacks(&self, table: Table, key: &[u8]) -> bool {
        let Some((highest, id)) = self.of(table).zip(keys::number(key)) else { return false };
        id > highest.load(Ordering::Acquire)
    }

    /// Takes in the keys of a change, before anyone can see its rows.
    pub(crate) fn raise(&self, change: &WriteBatch) {
        for (table, key, _) in &change.rows {
            if let Some((highest, id)) = self.of(table).zip(keys::number(key)) {
                highest.fetch_max(id, Ordering::AcqRel);
            }
        }
    }

    /// Begins with the greatest keys of the tables. `newest` reads that of a table; where it cannot, each look-up goes to the
    /// table.
    pub(crate) fn load(&self, newest: impl Fn(Table) -> Option<u64>) {
        for (table, highest) in ALL.iter().filter_map(|table| Some((*table, self.of(table)?))) {
            highest.store(newest(table).unwrap_or(u64::MAX), Ordering::Release);
        }
    }
}
