//! Walks over the time-ordered tables: by partition, then newest first.

use std::ops::ControlFlow;

use super::staged::Rows;
use crate::Store;
use crate::access::at::{At, MOST_ROWS};
use crate::kv::Scope;
use crate::rows::batch::WriteBatch;
use crate::rows::keys;
use crate::rows::keys::Partition;
use crate::rows::tables::Table;
use model::error::{Error, Result};
use model::store::Tier;
use model::{Order, Position, Scan, Span};

/// Most rows that are deleted one by one. A deleted range costs later reads more than some deleted rows.
const FEW: usize = 256;

/// Most partitions that a read from memory looks into, at some microseconds each: other requests wait for its thread.
pub(crate) const MOST_SEEKS: usize = 32;

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
    pub(crate) fn new(at: At<'a>, table: Table) -> Result<Self> {
        let left = if at.tier == Tier::Memory { MOST_ROWS } else { usize::MAX };
        Ok(Self { rows: at.rows(table, Scope::Partition)?, at_head: None, left })
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

impl Store {
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
        Walk::new(self.now(tier), table)?.rows(partition, span, order, &mut |place, value| {
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

    /// Removes all rows from a key on and before another one in a change, as [`Store::delete_partition`] does.
    pub(crate) fn delete_rows(&self, change: &mut WriteBatch, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        let mut rows = self.now(Tier::Disk).rows(table, Scope::Before(to))?;
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
