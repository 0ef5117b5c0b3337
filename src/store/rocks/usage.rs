//! The store in figures.

use rocksdb::properties::{self, PropName};

use super::tables::{self, INBOX, Table};
use super::{Rocks, log_limit, reserve, storage};
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
            log: Fill { used: reserve::log_bytes(self.db.path()), limit: log_limit(self.write_buffer) },
            activities: self.activities.usage(),
            topic_names,
            topic_ends,
            unpushed,
            unpushed_left_out,
            filters: vec![self.deleted.usage("deleted"), self.evicted.usage("evicted")],
            writes_refused: self.health.is_failing(),
            needs_restart: self.health.has_ended(),
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

    /// See [`Store::needs_restart`](crate::store::Store::needs_restart).
    pub fn needs_restart(&self) -> bool {
        self.health.has_ended()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rocksdb::WriteBatch;

    use super::*;
    use crate::store::rocks::Options;
    use crate::store::rocks::tables::{FOLLOWERS, FOLLOWING, HIDDEN, MARKERS, MUTES, PROFILES, REACTIONS, TOPIC_IDS};

    const MIB: u64 = 1 << 20;
    const TABLES: [Table; 8] = [FOLLOWERS, FOLLOWING, HIDDEN, MARKERS, MUTES, PROFILES, REACTIONS, TOPIC_IDS];

    fn write_row(store: &Rocks, table: Table, row: u64, bytes: usize) {
        let mut batch = WriteBatch::default();
        let key = [&[0; 8], &row.to_be_bytes()[..]].concat();
        batch.put_cf(store.family(table).expect("there"), key, vec![7; bytes]);
        store.commit(batch, false).expect("writes");
    }

    /// Writes so much to each of the tables, which is less than what one holds by itself.
    fn write(store: &Rocks, mebibytes: u64) {
        for row in 0..mebibytes * 8 {
            for table in TABLES {
                write_row(store, table, row, 128 << 10);
            }
        }
    }

    #[test]
    fn small_changes_of_all_tables_fit_the_smallest_write_buffer() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = Rocks::open(&Options { write_buffer: 8 << 20, ..Options::new(dir.path()) }).expect("opens");
        for row in 0..200 {
            for table in tables::ALL {
                write_row(&store, table, row, 8);
            }
        }
        let memtables = store.usage().expect("figures").memtables;
        assert_eq!(store.db.live_files().expect("files").len(), 0, "{memtables:?}");
    }

    #[test]
    fn a_write_buffer_holds_what_it_says_and_no_more() {
        let dir = tempfile::tempdir().expect("temp dir");
        let large = Rocks::open(&Options { write_buffer: 128 << 20, ..Options::new(dir.path()) }).expect("opens");
        write(&large, 6);
        let Usage { memtables, log, .. } = large.usage().expect("figures");
        assert_eq!((memtables.limit, log.limit), (128 * MIB, 64 * MIB));
        assert!(memtables.used >= 48 * MIB && log.used >= 48 * MIB, "{memtables:?} {log:?}");
        drop(large);

        let dir = tempfile::tempdir().expect("temp dir");
        let small = Rocks::open(&Options { write_buffer: 8 << 20, ..Options::new(dir.path()) }).expect("opens");
        write(&small, 6);
        let began = Instant::now();
        loop {
            // The engine looks at its bounds when it writes, and begins with no table while another is written out.
            write_row(&small, FOLLOWERS, 0, 1);
            let Usage { memtables, log, .. } = small.usage().expect("figures");
            if memtables.used <= memtables.limit && log.used <= log.limit + MIB {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{memtables:?} {log:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
