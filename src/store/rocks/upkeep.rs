//! Looking after the whole directory.

use rocksdb::{FlushOptions, ReadOptions};

use super::tables::{
    self, COUNTS, FOLLOWERS, FOLLOWING, HIDDEN, HIDDEN_BY_TIME, HIDDEN_TO, INBOX, MUTES, MUTES_BY_TIME, Table,
};
use super::{Rocks, keys, storage, values};
use crate::error::{Error, Result};
use crate::model::UserId;

impl Rocks {
    /// See [`Store::users_after`](crate::store::Store::users_after).
    pub fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let mut partitions = Vec::new();
        for table in [INBOX, FOLLOWING, FOLLOWERS, MUTES, MUTES_BY_TIME, HIDDEN, HIDDEN_BY_TIME, HIDDEN_TO, COUNTS] {
            partitions.extend(self.partitions_after(table, after, limit)?);
        }
        partitions.sort_unstable();
        partitions.dedup();
        partitions.truncate(limit);
        Ok(partitions)
    }

    /// The first partitions of a table above one, by a seek each. A count of nothing is not there.
    fn partitions_after(&self, table: Table, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        let mut rows = self.db.raw_iterator_cf_opt(self.family(table)?, options);
        let mut found = Vec::new();
        rows.seek(keys::id(after.map_or(0, |after| after.get() + 1)));
        while found.len() < limit {
            let Some((key, value)) = rows.item() else { break };
            if table == COUNTS && values::read_count(value) == Some(0) {
                rows.next();
                continue;
            }
            let partition = keys::number(key).and_then(|raw| UserId::new(raw).ok());
            let partition = partition.ok_or_else(|| Error::Corrupt(format!("a key in {table}")))?;
            found.push(partition);
            rows.seek(keys::id(partition.get() + 1));
        }
        rows.status().map_err(storage)?;
        Ok(found)
    }

    /// See [`Store::sync`](crate::store::Store::sync).
    pub fn sync(&self) -> Result<()> {
        let before = self.db.latest_sequence_number();
        self.db.flush_wal(true).map_err(storage)?;
        self.flushed.raise(before);
        Ok(())
    }

    /// Writes all rows in memory to table files.
    pub(super) fn flush(&self) -> Result<()> {
        let families = tables::ALL.iter().map(|table| self.family(table)).collect::<Result<Vec<_>>>()?;
        self.db.flush_cfs_opt(&families, &FlushOptions::default()).map_err(storage)
    }

    /// See [`Store::compact`](crate::store::Store::compact).
    pub fn compact(&self) -> Result<()> {
        self.flush()?;
        for table in tables::ALL {
            self.db.compact_range_cf(self.family(table)?, None::<&[u8]>, None::<&[u8]>);
        }
        Ok(())
    }
}
