//! The whole directory: users, durability, compaction, figures.

use std::sync::atomic::Ordering;

use rocksdb::properties::{self, PropName};
use rocksdb::{BottommostLevelCompaction, CompactOptions, FlushOptions, ReadOptions};

use crate::engine::log::trim_archive;
use crate::engine::open::log_limit;
use crate::engine::{health, reserve};
use crate::rows::inbox;
use crate::rows::tables;
use crate::rows::tables::{COUNTS, INBOXES, ITEM_COUNTS, Keys, Table};
use crate::rows::{keys, values};
use crate::{Rocks, storage};
use model::error::{Error, Result};
use model::store::{FilterUsage, Inboxes, TableStats, Upkeep, Usage, Watch};
use model::{CacheUsage, Fill, UserId};

impl Upkeep for Rocks {
    fn audit(&self, watch: &mut dyn Watch) -> Result<()> {
        self.compare_tables(watch)
    }

    fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        self.write_arrivals()?;
        let mut partitions = Vec::new();
        let of_users = |table: &&Table| match table.keys {
            Keys::USERS => true,
            keys => keys == Keys::Row("user") && table.lists.is_some() || [INBOXES, COUNTS].contains(*table),
        };
        for table in tables::ALL.iter().filter(of_users) {
            partitions.extend(self.partitions_after(table, after, limit)?);
        }
        partitions.sort_unstable();
        partitions.dedup();
        partitions.truncate(limit);
        Ok(partitions)
    }

    fn sync(&self) -> Result<()> {
        let before = self.db.latest_sequence_number();
        self.db.flush_wal(true).map_err(storage)?;
        self.flushed.raise(before);
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        self.write_arrivals()?;
        self.flush()?;
        // Otherwise the marks of removed rows, which have their keys, stay where no other file has these keys.
        let mut options = CompactOptions::default();
        options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
        // The second time, the sums of the first that are zero leave.
        for table in tables::ALL.iter().chain(&[COUNTS, ITEM_COUNTS]) {
            self.db.compact_range_cf_opt(self.family(table)?, None::<&[u8]>, None::<&[u8]>, &options);
        }
        // Log that earlier runs have kept for standbys has the removed rows, too.
        if self.kept_log.load(Ordering::Relaxed) == 0 {
            trim_archive(self.db.path(), 0);
        }
        Ok(())
    }

    fn stats(&self) -> Result<Vec<TableStats>> {
        let stats = |table: &Table| {
            let on_disk = self.figure(table, properties::TOTAL_SST_FILES_SIZE)?;
            let in_memory = self.figure(table, properties::CUR_SIZE_ALL_MEM_TABLES)?;
            Ok(TableStats {
                table: table.name,
                rows: self.figure(table, properties::ESTIMATE_NUM_KEYS)?,
                bytes: on_disk + in_memory,
            })
        };
        tables::ALL.iter().map(stats).collect()
    }

    fn needs_restart(&self) -> bool {
        self.health.has_ended()
    }

    fn refusal(&self) -> Option<String> {
        self.health.refusal()
    }

    fn usage(&self) -> Result<Usage> {
        // Also without changes it is noticed that the directory is gone.
        self.health.is_scarce();
        // The tables share one cache and one engine, so figures of one table hold for all.
        let shared = |name| self.figure(INBOXES, name);
        let mut write_buffers = Fill::of(0, self.write_buffer);
        for table in tables::ALL {
            write_buffers.used += self.figure(table, properties::SIZE_ALL_MEM_TABLES)?;
        }
        let (unpushed, unpushed_left_out) = self.unpushed.rows.usage();
        let (partial_push_recipients, partial_push_recipients_left_out) = self.partial_push_recipients.usage();
        Ok(Usage {
            tables: self.stats()?,
            block_cache: Fill {
                used: shared(properties::BLOCK_CACHE_USAGE)?,
                limit: shared(properties::BLOCK_CACHE_CAPACITY)?,
            },
            write_buffers,
            most_write_buffers: tables::most_write_buffers().max(self.write_buffer as u64),
            arrivals: self.arrivals.usage(),
            log: Fill { used: reserve::log_bytes(self.db.path()), limit: log_limit(self.write_buffer) },
            device: self.device(),
            caches: self.caches(),
            damaged_inboxes: self.damaged.dropped(),
            unpushed,
            unpushed_left_out,
            partial_push_recipients,
            partial_push_recipients_left_out,
            filters: self.filters(),
            writes_refused: self.health.is_failing(),
            needs_restart: self.health.has_ended(),
            writes_stopped: shared(properties::IS_WRITE_STOPPED)? > 0,
            // Only the engine's own table counts them.
            background_errors: self
                .db
                .property_int_value(properties::BACKGROUND_ERRORS)
                .map_err(storage)?
                .unwrap_or_default(),
            engine: self.engine_figures()?,
        })
    }
}

impl Rocks {
    /// The filters in figures.
    pub(crate) fn filters(&self) -> Vec<FilterUsage> {
        vec![
            self.deleted.usage("deleted"),
            self.evicted.usage("evicted"),
            self.suspended.usage("suspended"),
            self.taken_off.usage("taken_off"),
            self.with_settings.usage("settings"),
        ]
    }

    /// The file system of the directory; nothing if it cannot tell.
    fn device(&self) -> Fill {
        let (free, all) = rustix::fs::statvfs(self.db.path()).as_ref().map(health::room).unwrap_or_default();
        Fill { used: all.saturating_sub(free), limit: all }
    }

    /// The first partitions of a table above one, with a seek for each.
    pub(crate) fn partitions_after(&self, table: Table, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        let mut rows = self.db.raw_iterator_cf_opt(self.family(table)?, options);
        let mut found = Vec::new();
        // No user is 0; a first row of the whole table may be.
        rows.seek(keys::id(after.map_or(1, |after| after.get().saturating_add(1))));
        while found.len() < limit {
            let Some((key, value)) = rows.item() else { break };
            if is_nothing(table, value) {
                rows.next();
                continue;
            }
            let partition = keys::number(key).and_then(|raw| UserId::new(raw).ok());
            let partition = partition.ok_or_else(|| Error::Corrupt(format!("a key in {table}")))?;
            found.push(partition);
            let Some(next) = partition.get().checked_add(1) else { break };
            rows.seek(keys::id(next));
        }
        rows.status().map_err(|error| self.failure(error))?;
        Ok(found)
    }

    /// Writes all rows of write buffers to table files.
    pub(crate) fn flush(&self) -> Result<()> {
        let families = tables::ALL.iter().map(|table| self.family(table)).collect::<Result<Vec<_>>>()?;
        self.db.flush_cfs_opt(&families, &FlushOptions::default()).map_err(|error| {
            self.note(&error);
            self.failure(error)
        })
    }

    fn caches(&self) -> Vec<(&'static str, CacheUsage)> {
        let [numbers, names] = self.names.usage();
        let [topic_names, topic_ends] = self.topics.usage();
        vec![
            ("inboxes", self.inbox_rows.usage()),
            ("activities", self.activities.usage()),
            ("item_counts", self.item_counts.usage()),
            ("reactions", self.newest_reactions.usage()),
            ("outbox_parts", self.outbox_parts.usage()),
            ("numbers", numbers),
            ("names", names),
            ("topic_names", topic_names),
            ("topic_ends", topic_ends),
        ]
    }

    pub(crate) fn figure(&self, table: Table, name: &PropName) -> Result<u64> {
        let figure = self.db.property_int_value_cf(self.family(table)?, name).map_err(storage)?;
        Ok(figure.unwrap_or_default())
    }
}

/// Rows that stay when there is nothing left to count, or no entry.
fn is_nothing(table: Table, value: &[u8]) -> bool {
    table == COUNTS && values::read_count(value) == Some(0) || table == INBOXES && inbox::is_empty(value)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rocksdb::IteratorMode;

    use super::*;
    use crate::Options;
    use crate::rows::batch::WriteBatch;
    use crate::rows::tables::{FOLLOWERS, FOLLOWING, HIDDEN, MARKERS, MUTES, PROFILES, REACTIONS, TOPIC_IDS};
    use model::store::{Change, Graph};

    const MIB: u64 = 1 << 20;
    const TABLES: [Table; 8] = [FOLLOWERS, FOLLOWING, HIDDEN, MARKERS, MUTES, PROFILES, REACTIONS, TOPIC_IDS];

    fn write_row(store: &Rocks, table: Table, row: u64, bytes: usize) {
        let mut batch = WriteBatch::default();
        let key = [&[0; 8], &row.to_be_bytes()[..]].concat();
        batch.put(table, key, vec![7; bytes]);
        store.commit(batch, false).expect("writes");
    }

    /// Writes this much to each of the tables, less than the size of one write buffer.
    fn write(store: &Rocks, mebibytes: u64) {
        for row in 0..mebibytes * 8 {
            for table in TABLES {
                write_row(store, table, row, 128 << 10);
            }
        }
    }

    #[test]
    fn a_compaction_leaves_no_count_of_nothing() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = Rocks::open(&Options::new(dir.path())).expect("opens");
        let [ana, bo] = [1, 2].map(|raw| UserId::new(raw).expect("in range"));
        let both = |follow: Option<u64>, likes| {
            for (user, target) in [(ana, bo), (bo, ana)] {
                store.relate(user, &[Change::new(target, follow)], 10).expect("relates");
            }
            let mut batch = WriteBatch::default();
            let steps = values::ItemSteps { reactions: [(0, likes)].into(), ..Default::default() };
            let steps = values::item_counts(&steps);
            batch.merge(ITEM_COUNTS, keys::id(7), steps);
            store.commit(batch, false).expect("writes");
        };
        let rows = |table| store.db.iterator_cf(store.family(table).expect("there"), IteratorMode::Start).count();
        for is_summed_before in [false, true] {
            both(Some(5), 1);
            if is_summed_before {
                store.compact().expect("compacts");
                assert_eq!((rows(COUNTS), rows(ITEM_COUNTS)), (6, 1));
            }
            both(None, -1);
            store.compact().expect("compacts");
            assert_eq!((rows(COUNTS), rows(ITEM_COUNTS)), (0, 0));
        }
        both(Some(6), 1);
        assert_eq!(store.follower_count(bo).expect("reads"), 1);
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
        let write_buffers = store.usage().expect("figures").write_buffers;
        assert_eq!(store.db.live_files().expect("files").len(), 0, "{write_buffers:?}");
    }

    #[test]
    fn a_write_buffer_holds_what_it_says_and_no_more() {
        let dir = tempfile::tempdir().expect("temp dir");
        let large = Rocks::open(&Options { write_buffer: 128 << 20, ..Options::new(dir.path()) }).expect("opens");
        write(&large, 6);
        let Usage { write_buffers, log, .. } = large.usage().expect("figures");
        assert_eq!((write_buffers.limit, log.limit), (128 * MIB, 64 * MIB));
        assert!(write_buffers.used >= 48 * MIB && log.used >= 48 * MIB, "{write_buffers:?} {log:?}");
        drop(large);

        let dir = tempfile::tempdir().expect("temp dir");
        let small = Rocks::open(&Options { write_buffer: 8 << 20, ..Options::new(dir.path()) }).expect("opens");
        write(&small, 6);
        let began = Instant::now();
        loop {
            // The engine checks its limits at a write, and flushes one table at a time.
            write_row(&small, FOLLOWERS, 0, 1);
            let Usage { write_buffers, log, .. } = small.usage().expect("figures");
            if write_buffers.used <= write_buffers.limit && log.used <= log.limit + MIB {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{write_buffers:?} {log:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
