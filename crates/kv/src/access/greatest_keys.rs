//! The greatest keys of tables of ids. A new id is mostly greater than all others: no look-up finds a row of it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::batch::WriteBatch;
use crate::family::Family;
use crate::id;

/// For each table that declares it, an id that is not below any of its keys.
#[derive(Debug)]
pub(crate) struct Highest(Vec<AtomicU64>);

impl Highest {
    /// Begins with the greatest keys of the tables. `newest` reads that of a table; where it cannot, each look-up goes to the
    /// table.
    pub(crate) fn load(families: &[&'static Family], newest: impl Fn(&'static Family) -> Option<u64>) -> Self {
        let known =
            |family: &'static Family| if family.is_rising { newest(family).unwrap_or(u64::MAX) } else { u64::MAX };
        Self(families.iter().map(|family| AtomicU64::new(known(family))).collect())
    }

    fn of(&self, family: &Family) -> Option<&AtomicU64> {
        self.0.get(family.place).filter(|_| family.is_rising)
    }

    /// Whether a table surely has no row with a key: it is above all others.
    #[inline]
    pub(crate) fn lacks(&self, family: &Family, key: &[u8]) -> bool {
        let Some((highest, id)) = self.of(family).zip(id::first(key)) else { return false };
        id > highest.load(Ordering::Acquire)
    }

    /// Takes in the keys of a change, before anyone can see its rows.
    pub(crate) fn raise(&self, change: &WriteBatch) {
        for (family, key, _) in &change.rows {
            if let Some((highest, id)) = self.of(family).zip(id::first(key)) {
                highest.fetch_max(id, Ordering::AcqRel);
            }
        }
    }
}
