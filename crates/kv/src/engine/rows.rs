//! Writes of rows.

use rocksdb::{BottommostLevelCompaction, CompactOptions, DB, FlushOptions, WriteBatch};

use crate::batch::{Change, Op};
use crate::family::Family;
use crate::view::family;
use model::error::Result;

/// Changes in the engine's form. `bytes` is about how many they have.
pub(super) fn batch(
    db: &DB,
    changes: &mut dyn Iterator<Item = (&'static Family, Change<'_>)>,
    bytes: usize,
) -> Result<WriteBatch> {
    // A batch of items may have megabytes, which would be moved each time that the engine's form grows.
    let mut batch = WriteBatch::with_capacity_bytes(bytes);
    // Most changes come table by table.
    let mut last: Option<(&Family, _)> = None;
    for (table, change) in changes {
        let family = match last {
            Some((of, family)) if std::ptr::eq(of, table) => family,
            _ => family(db, table)?,
        };
        last = Some((table, family));
        match change {
            Change::Row(key, Op::Put(value)) => batch.put_cf(family, key, value),
            Change::Row(key, Op::Delete) => batch.delete_cf(family, key),
            Change::Row(key, Op::Merge(step)) => batch.merge_cf(family, key, step),
            Change::Range(from, to) => batch.delete_range_cf(family, from, to),
        }
    }
    Ok(batch)
}

/// Writes the rows in memory of all tables to their files.
pub(super) fn flush(db: &DB, tables: &[&'static Family]) -> Result<(), rocksdb::Error> {
    let families: Vec<_> = tables.iter().filter_map(|table| db.cf_handle(table.name)).collect();
    db.flush_cfs_opt(&families, &FlushOptions::default())
}

/// Rewrites all tables, whose rows are in files, without the rows that the filters drop.
pub(super) fn compact(db: &DB, tables: &[&'static Family]) -> Result<()> {
    // Otherwise the marks of removed rows, which have their keys, stay where no other file has these keys.
    let mut options = CompactOptions::default();
    options.set_bottommost_level_compaction(BottommostLevelCompaction::ForceOptimized);
    // The second time, the sums of the first that are zero leave.
    let sums = tables.iter().filter(|table| table.sum().is_some());
    for table in tables.iter().chain(sums) {
        db.compact_range_cf_opt(family(db, table)?, None::<&[u8]>, None::<&[u8]>, &options);
    }
    Ok(())
}
