//! The store in figures.

use std::ffi::OsStr;

use rocksdb::properties::{self, PropName};

use super::tables::{self, INBOX, Table};
use super::{LOG_LIMIT, Rocks, storage};
use crate::error::Result;
use crate::model::Fill;
use crate::store::{TableStats, Usage};

impl Rocks {
    /// See [`Store::stats`](crate::store::Store::stats).
    pub fn stats(&self) -> Result<Vec<TableStats>> {
        let stats = |table: &Table| {
            let on_disk = self.figure(table, properties::TOTAL_SST_FILES_SIZE)?;
            let in_memory = self.figure(table, properties::CUR_SIZE_ALL_MEM_TABLES)?;
            Ok(TableStats {
                table,
                rows: self.figure(table, properties::ESTIMATE_NUM_KEYS)?,
                bytes: on_disk + in_memory,
            })
        };
        tables::ALL.iter().map(stats).collect()
    }

    /// See [`Store::usage`](crate::store::Store::usage).
    pub fn usage(&self) -> Result<Usage> {
        // The tables share one cache and one engine, so what any of them says holds for all.
        let shared = |name| self.figure(INBOX, name);
        let mut memtables = Fill::of(0, self.write_buffer);
        for table in tables::ALL {
            memtables.used += self.figure(table, properties::SIZE_ALL_MEM_TABLES)?;
        }
        let (unpushed, unpushed_left_out) = self.unpushed.usage();
        let [topic_names, topic_ends] = self.topics.usage();
        Ok(Usage {
            tables: self.stats()?,
            block_cache: Fill {
                used: shared(properties::BLOCK_CACHE_USAGE)?,
                limit: shared(properties::BLOCK_CACHE_CAPACITY)?,
            },
            memtables,
            log: Fill { used: self.log_bytes(), limit: LOG_LIMIT },
            activities: self.activities.usage(),
            topic_names,
            topic_ends,
            unpushed,
            unpushed_left_out,
            filters: vec![self.deleted.usage("deleted"), self.evicted.usage("evicted")],
            writes_refused: self.health.is_failing(),
            writes_stopped: shared(properties::IS_WRITE_STOPPED)? > 0,
            // Counted in the engine's own table only.
            background_errors: self
                .db
                .property_int_value(properties::BACKGROUND_ERRORS)
                .map_err(storage)?
                .unwrap_or_default(),
        })
    }

    fn figure(&self, table: Table, name: &PropName) -> Result<u64> {
        let figure = self.db.property_int_value_cf(self.family(table)?, name).map_err(storage)?;
        Ok(figure.unwrap_or_default())
    }

    /// The sizes of the log's files. One that goes while it is looked at counts nothing.
    fn log_bytes(&self) -> u64 {
        let files = std::fs::read_dir(self.db.path()).into_iter().flatten().flatten();
        let logs = files.filter(|file| file.path().extension() == Some(OsStr::new("log")));
        logs.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }
}
