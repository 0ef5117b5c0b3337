//! The engine's compactions and stalls. All figures are properties that the engine keeps anyway: its statistics, which
//! have more, would cost a few percent of each read.

use rocksdb::properties;

use crate::engine::disk::Disk;
use crate::rows::tables;
use crate::rows::tables::{INBOXES, Table};
use crate::storage;
use model::error::Result;
use model::store::EngineUsage;

const FRESH_FILES: &str = "rocksdb.num-files-at-level0";
const DELAYED_WRITE_RATE: &str = "rocksdb.actual-delayed-write-rate";
/// One line of `name: count` pairs with commas between them.
const STALLS: &str = "rocksdb.cf-write-stall-stats";

impl Disk {
    /// All of them, now.
    pub(crate) fn engine_figures(&self) -> Result<EngineUsage> {
        let shared = |name| self.figure(INBOXES, name);
        let mut usage = EngineUsage {
            compactions: shared(properties::NUM_RUNNING_COMPACTIONS)?,
            flushes: shared(properties::NUM_RUNNING_FLUSHES)?,
            slowed_to: self.db.property_int_value(DELAYED_WRITE_RATE).map_err(storage)?.unwrap_or_default(),
            ..EngineUsage::default()
        };
        for table in tables::ALL {
            usage.compaction_debt += self.figure(table, properties::ESTIMATE_PENDING_COMPACTION_BYTES)?;
            let fresh = self.text(table, FRESH_FILES)?.trim().parse().unwrap_or(0);
            usage.fresh_files = usage.fresh_files.max(fresh);
            let stalls = self.text(table, STALLS)?;
            usage.slowdowns += count(&stalls, "total-delays");
            usage.stops += count(&stalls, "total-stops");
        }
        Ok(usage)
    }

    fn text(&self, table: Table, name: &str) -> Result<String> {
        Ok(self.db.property_value_cf(self.family(table)?, name).map_err(storage)?.unwrap_or_default())
    }
}

/// The count of a name in a line of pairs; 0 if there is none.
fn count(line: &str, name: &str) -> u64 {
    let pairs = line.split([',', '\n']).filter_map(|pair| pair.rsplit_once(": "));
    let found = pairs.map(|(before, count)| (before.trim().trim_start_matches("Write Stall (count): "), count));
    found.filter(|(found, _)| *found == name).filter_map(|(_, count)| count.trim().parse().ok()).next().unwrap_or(0)
}
