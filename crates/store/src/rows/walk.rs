//! Walks over the time-ordered tables: by partition, then newest first.

use std::ops::ControlFlow;

use rocksdb::{ReadOptions, Snapshot};

use super::keys;
use super::keys::Partition;
use super::staged::Rows;
use super::tables::Table;
use crate::rows::batch::WriteBatch;
use crate::{Rocks, reading};
use model::error::{Error, Result};
use model::store::Tier;
use model::{Order, Position, Scan, Span};

/// Most rows that are deleted one by one. A deleted range costs later reads more than some deleted rows.
const FEW: usize = 256;

/// Most consecutive deleted rows that a read from memory passes over. A read of more goes to a thread that may block.
const MOST_SKIPPED: u64 = 1000;

/// Most partitions that a read from memory looks into, rows that it visits, and keys that it looks up in one call:
/// other requests wait for its thread. A larger read would take no more memory, only more time, some microseconds a
/// partition.
pub(crate) const MOST_SEEKS: usize = 32;
pub(crate) const MOST_ROWS: usize = 512;
pub(crate) const MOST_KEYS: usize = 64;

/// A visitor of rows, by place and value; breaks when it has enough.
pub(crate) type Visit<'v, I> = dyn FnMut(Position<I>, &[u8]) -> Result<ControlFlow<()>> + 'v;

/// One iterator over a time-ordered table; all its walks see the table at one instant.
pub(crate) struct Walk<'a, P = u64> {
    rows: Rows<'a>,
    /// The partition at whose start the iterator is: a walk from there need not seek.
    at_head: Option<P>,
    /// The number of rows that may still be visited.
    left: usize,
}

impl Walk<'_> {
    /// The value at the head of a partition, if there is one. Leaves the iterator at the first row.
    pub(crate) fn head(&mut self, partition: u64) -> Result<Option<&[u8]>> {
        self.rows.seek(keys::head(partition));
        self.rows.status()?;
        self.at_head = Some(partition);
        Ok(self.rows.item().filter(|(key, _)| keys::is_head(key)).map(|(_, value)| value))
    }
}

impl<'a, P: Partition> Walk<'a, P> {
    pub(crate) fn new(store: &'a Rocks, table: Table, tier: Tier) -> Result<Self> {
        let left = if tier == Tier::Memory { MOST_ROWS } else { usize::MAX };
        Ok(Self { rows: store.rows(table, walking(tier))?, at_head: None, left })
    }

    /// Over a table as of a snapshot; from disk, if necessary.
    pub(crate) fn at(store: &'a Rocks, table: Table, snapshot: &'a Snapshot<'_>) -> Result<Self> {
        let rows = Rows::new(snapshot.raw_iterator_cf_opt(store.family(table)?, walking(Tier::Disk)), table, None);
        Ok(Self { rows, at_head: None, left: usize::MAX })
    }

    /// Visits the rows of a partition within `span`, in `order`, until `visit` breaks.
    pub(crate) fn rows<I: Copy + Ord + TryFrom<u64> + Into<u64>>(
        &mut self,
        partition: P,
        span: Span<I>,
        order: Order,
        visit: &mut Visit<'_, I>,
    ) -> Result<()> {
        let key = |place: Position<I>| partition.row(place.at, place.id.into());
        let at_head = self.at_head.take() == Some(partition);
        match order {
            Order::NewestFirst if at_head && span.before.is_none() => {}
            Order::NewestFirst => self.rows.seek(span.before.map_or_else(|| partition.row(u64::MAX, u64::MAX), key)),
            Order::OldestFirst => self.rows.seek_for_prev(span.after.map_or_else(|| partition.row(0, 0), key)),
        }
        while let Some((key, value)) = self.rows.item() {
            let Some((found, at, id)) = P::split(key) else {
                return Err(Error::Corrupt(format!("a key of {} bytes in a time-ordered table", key.len())));
            };
            if found != partition {
                break;
            }
            if !keys::is_head(key) {
                self.left = self.left.checked_sub(1).ok_or(Error::NotCached)?;
                let id = I::try_from(id).map_err(|_| Error::Corrupt(format!("id {id} in a key")))?;
                let place = Position { at, id };
                if span.contains(place) {
                    if visit(place, value)?.is_break() {
                        return Ok(());
                    }
                } else if Some(place) != span.before && Some(place) != span.after {
                    break;
                }
            }
            match order {
                Order::NewestFirst => self.rows.next(),
                Order::OldestFirst => self.rows.prev(),
            }
        }
        self.rows.status()
    }
}

/// The answer of a visitor who goes on, or has enough.
pub(crate) fn go_on(goes_on: bool) -> Result<ControlFlow<()>> {
    Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
}

fn walking(tier: Tier) -> ReadOptions {
    let mut options = reading(tier);
    // Ends at the partition's end, so no walk wades through deletions of the next one.
    options.set_prefix_same_as_start(true);
    if tier == Tier::Memory {
        // A read that must not block does not wade through many deletions either: it gets `NotCached`.
        options.set_max_skippable_internal_keys(MOST_SKIPPED);
    }
    options
}

impl Rocks {
    /// Rows of a partition, each as `decode` reads it.
    pub(crate) fn listed<P: Partition, I: Copy + Ord + TryFrom<u64> + Into<u64>, T>(
        &self,
        (table, partition): (Table, P),
        scan: Scan<I>,
        tier: Tier,
        decode: impl Fn(Position<I>, &[u8]) -> Result<T>,
    ) -> Result<Vec<T>> {
        let Scan { span, order, limit } = scan;
        let mut found = Vec::new();
        if scan.is_empty() {
            return Ok(found);
        }
        Walk::new(self, table, tier)?.rows(partition, span, order, &mut |place, value| {
            found.push(decode(place, value)?);
            go_on(found.len() < limit)
        })?;
        Ok(found)
    }

    /// Removes all rows of a partition in a change. The caller ensures that no rows are added until the change is
    /// written.
    pub(crate) fn delete_partition(&self, change: &mut WriteBatch, table: Table, partition: u64) -> Result<()> {
        // No row has the id 0, so none is at the tail.
        self.delete_rows(change, table, &keys::head(partition), &keys::tail(partition))
    }

    /// Removes all rows from a key on and before another one in a change, as [`Rocks::delete_partition`] does.
    pub(crate) fn delete_rows(&self, change: &mut WriteBatch, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        let mut options = reading(Tier::Disk);
        options.set_total_order_seek(true);
        options.set_iterate_upper_bound(to);
        let mut rows = self.rows(table, options)?;
        rows.seek(from);
        let mut keys: Vec<Box<[u8]>> = Vec::new();
        while let Some(key) = rows.key().filter(|key| keys.len() <= FEW && *key < to) {
            keys.push(key.into());
            rows.next();
        }
        rows.status()?;
        if keys.len() > FEW {
            change.delete_range(table, from, to);
        } else {
            keys.iter().for_each(|key| change.delete(table, key));
        }
        Ok(())
    }
}
