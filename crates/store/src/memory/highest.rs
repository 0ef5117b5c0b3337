//! The greatest keys of tables of ids. A new item mostly has a greater id than all others: no look-up finds a row of it.

use std::sync::atomic::{AtomicU64, Ordering};

use rocksdb::ReadOptions;

use crate::Rocks;
use crate::rows::batch::WriteBatch;
use crate::rows::keys;
use crate::rows::tables::{ALL, Table};

/// For each table that declares it, an id that is not below any of its keys.
#[derive(Debug)]
pub(crate) struct Highest([AtomicU64; 2]);

impl Default for Highest {
    /// Nothing is known.
    fn default() -> Self {
        Self([u64::MAX, u64::MAX].map(AtomicU64::new))
    }
}

impl Highest {
    /// Whether a key is above all of its table: then it has no row.
    #[inline]
    pub(crate) fn is_below(&self, table: Table, key: &[u8]) -> bool {
        let Some(place) = table.highest else { return false };
        keys::number(key).is_some_and(|id| id > self.0[place].load(Ordering::Acquire))
    }

    /// Takes in the keys of a change, before others can see its rows.
    pub(crate) fn raise(&self, change: &WriteBatch) {
        for (place, key) in change.rows.iter().filter_map(|(table, key, _)| Some((table.highest?, key))) {
            if let Some(id) = keys::number(key) {
                self.0[place].fetch_max(id, Ordering::AcqRel);
            }
        }
    }
}

impl Rocks {
    /// Finds the greatest keys. Where one cannot be read, each look-up goes to the table.
    pub(crate) fn load_highest(&self) {
        for (table, place) in ALL.iter().filter_map(|table| Some((*table, table.highest?))) {
            let mut options = ReadOptions::default();
            options.set_total_order_seek(true);
            let Ok(mut rows) = self.rows(table, options) else { continue };
            rows.seek_to_last();
            let highest = match rows.key() {
                Some(key) => keys::number(key),
                None => rows.status().ok().map(|()| 0),
            };
            self.highest.0[place].store(highest.unwrap_or(u64::MAX), Ordering::Release);
        }
    }
}
