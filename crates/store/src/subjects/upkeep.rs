//! The whole directory: users, durability, compaction, figures.

use crate::Store;
use crate::kv::Scope;
use crate::rows::inbox;
use crate::rows::tables;
use crate::rows::tables::{COUNTS, INBOXES, Keys, Table};
use crate::rows::{keys, values};
use model::error::{Error, Result};
use model::store::{TableStats, Tier, Usage};
use model::{CacheUsage, UserId};

impl Store {
    /// Up to `limit` users with ids above `after`, ascending, who have a row that must agree with others: in an inbox
    /// or an own page, a follow, a request or a barrier that the other side must know, a count.
    pub fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        self.write_arrivals()?;
        let mut partitions = Vec::new();
        let of_users = |table: &&Table| match table.keys {
            Keys::USERS => true,
            Keys::Row("user") => table.follows.iter().any(|(of, _)| of.keys == Keys::USERS),
            _ => [INBOXES, COUNTS].contains(*table),
        };
        for table in tables::ALL.iter().filter(of_users) {
            partitions.extend(self.partitions_after(table, after, limit)?);
        }
        partitions.sort_unstable();
        partitions.dedup();
        partitions.truncate(limit);
        Ok(partitions)
    }

    /// Makes every write so far durable, whatever the settings say.
    pub fn sync(&self) -> Result<()> {
        self.kv.sync()
    }

    /// Rewrites all tables, which drops rows that are deleted or below a floor, and removes log that was
    /// kept for standbys if none is to be kept.
    pub fn compact(&self) -> Result<()> {
        self.write_arrivals()?;
        self.kv.compact()
    }

    /// Rows and bytes of each table, by the engine's estimates.
    pub fn stats(&self) -> Result<Vec<TableStats>> {
        tables::ALL.iter().map(|table| self.kv.size(table)).collect()
    }

    /// Whether the store takes no changes until it is opened again. Reads go on. Neither looks at the disk nor waits.
    pub fn needs_restart(&self) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.health.has_ended())
    }

    /// Why changes are refused at present; `None` if the last one was not. Neither looks at the disk nor waits.
    pub fn refusal(&self) -> Option<String> {
        self.disk.as_ref()?.health.refusal()
    }

    /// Memory and disk that the store uses, with [`Store::stats`]. May look at the disk.
    pub fn usage(&self) -> Result<Usage> {
        let (unpushed, unpushed_left_out) = self.loaded.unpushed.rows.usage();
        let (partial_push_recipients, partial_push_recipients_left_out) = self.loaded.partial_push_recipients.usage();
        Ok(Usage {
            tables: self.stats()?,
            arrivals: self.arrivals.usage(),
            caches: self.caches(),
            damaged_inboxes: self.damaged.dropped(),
            unpushed,
            unpushed_left_out,
            partial_push_recipients,
            partial_push_recipients_left_out,
            filters: self.loaded.filters(),
            ..self.kv.usage()?
        })
    }
}

impl Store {
    /// The first partitions of a table above one, with a seek for each.
    pub(crate) fn partitions_after(&self, table: Table, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let mut rows = self.now(Tier::Disk).rows(table, Scope::Table)?;
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
        rows.status().map_err(|error| self.disk.as_ref().map_or(error.clone(), |disk| disk.failure(error)))?;
        Ok(found)
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
    use crate::rows::tables::{
        FOLLOWERS, FOLLOWING, HIDDEN, ITEM_COUNTS, MARKERS, MUTES, PROFILES, REACTIONS, TOPIC_IDS,
    };
    use model::store::Change;

    const MIB: u64 = 1 << 20;
    const TABLES: [Table; 8] = [FOLLOWERS, FOLLOWING, HIDDEN, MARKERS, MUTES, PROFILES, REACTIONS, TOPIC_IDS];

    fn write_row(store: &Store, table: Table, row: u64, bytes: usize) {
        let mut batch = WriteBatch::default();
        let key = [&[0; 8], &row.to_be_bytes()[..]].concat();
        batch.put(table, key, vec![7; bytes]);
        store.commit(batch, false).expect("writes");
    }

    /// Writes this much to each of the tables, less than the size of one write buffer.
    fn write(store: &Store, mebibytes: u64) {
        for row in 0..mebibytes * 8 {
            for table in TABLES {
                write_row(store, table, row, 128 << 10);
            }
        }
    }

    #[test]
    fn a_compaction_leaves_no_count_of_nothing() {
        let dir = tempfile::tempdir().expect("temp dir");
        let store = Store::open(&Options::new(dir.path())).expect("opens");
        let disk = store.disk().expect("on disk");
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
        let rows = |table| disk.db.iterator_cf(disk.family(table).expect("there"), IteratorMode::Start).count();
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
    fn a_write_buffer_holds_what_it_says_and_no_more() {
        let dir = tempfile::tempdir().expect("temp dir");
        let large = Store::open(&Options { write_buffer: 128 << 20, ..Options::new(dir.path()) }).expect("opens");
        write(&large, 6);
        let Usage { write_buffers, log, .. } = large.usage().expect("figures");
        assert_eq!((write_buffers.limit, log.limit), (128 * MIB, 64 * MIB));
        assert!(write_buffers.used >= 48 * MIB && log.used >= 48 * MIB, "{write_buffers:?} {log:?}");
        drop(large);

        let dir = tempfile::tempdir().expect("temp dir");
        let small = Store::open(&Options { write_buffer: 8 << 20, ..Options::new(dir.path()) }).expect("opens");
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
