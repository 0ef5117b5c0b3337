//! Walks over the time-ordered tables: by partition, then newest first.

use std::ops::ControlFlow;

use crate::rows::keys::{self, KeyId, Parts};
use crate::rows::table::{AnyTable, Table};
use crate::rows::tables::{COUNTS, INBOXES};
use crate::rows::{inbox, values};
use kv::{At, Database, MOST_ROWS, Rows, Scope, Tier};
use model::error::{Error, Result};
use model::{Order, Position, Scan, Span, UserId};

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

impl<'a, P: Parts + PartialEq> Walk<'a, P> {
    pub(crate) fn new(at: At<'a>, table: AnyTable) -> Result<Self> {
        let left = if at.tier == Tier::Memory { MOST_ROWS } else { usize::MAX };
        Ok(Self { rows: at.rows(table, Scope::Partition)?, at_head: None, left })
    }

    /// Visits the rows of a partition within `span`, in `order`, until `visit` breaks.
    pub(crate) fn rows<I: KeyId>(
        &mut self,
        partition: P,
        span: Span<I>,
        order: Order,
        visit: &mut Visit<'_, I>,
    ) -> Result<()> {
        let prefix = keys::of(partition);
        let key = |place: Position<I>| prefix.with(Position { at: place.at, id: place.id.into() });
        let end = |of: u64| prefix.with(Position { at: of, id: of });
        let at_head = self.at_head.take() == Some(partition);
        match order {
            Order::NewestFirst if at_head && span.before.is_none() => {}
            Order::NewestFirst => self.rows.seek(span.before.map_or_else(|| end(u64::MAX), key)),
            Order::OldestFirst => self.rows.seek_for_prev(span.after.map_or_else(|| end(0), key)),
        }
        while let Some((key, value)) = self.rows.item()
            && let Some(place) = key.strip_prefix(&*prefix)
        {
            if !keys::is_head(key) {
                self.left = self.left.checked_sub(1).ok_or(Error::NotCached)?;
                let place = keys::read(place)
                    .ok_or_else(|| Error::Corrupt(format!("the place in a key of {} bytes", key.len())))?;
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

/// Rows of a partition, each as `decode` reads it.
pub(crate) fn listed<P: Parts + PartialEq, I: KeyId, T>(
    at: At<'_>,
    (table, partition): (AnyTable, P),
    scan: Scan<I>,
    decode: impl Fn(Position<I>, &[u8]) -> Result<T>,
) -> Result<Vec<T>> {
    let Scan { span, order, limit } = scan;
    let mut found = Vec::new();
    if scan.is_empty() {
        return Ok(found);
    }
    Walk::new(at, table)?.rows(partition, span, order, &mut |place, value| {
        found.push(decode(place, value)?);
        go_on(found.len() < limit)
    })?;
    Ok(found)
}

impl<P: KeyId, I: KeyId, V> Table<(P, Position<I>), V> {
    /// The places in a partition.
    pub(crate) fn places(self, at: At<'_>, of: P, scan: Scan<I>) -> Result<Vec<Position<I>>> {
        listed(at, (self.spec, of), scan, |place, _| Ok(place))
    }
}

impl<P: KeyId, I: KeyId, V> Table<(P, u8, Position<I>), V> {
    /// The places in a partition.
    pub(crate) fn places(self, at: At<'_>, of: (P, u8), scan: Scan<I>) -> Result<Vec<Position<I>>> {
        listed(at, (self.spec, of), scan, |place, _| Ok(place))
    }
}

/// The second ids of a pair table's partition above `after`, ascending.
pub(crate) fn seconds(
    at: At<'_>,
    table: AnyTable,
    first: impl Into<u64>,
    after: Option<UserId>,
    limit: usize,
) -> Result<Vec<UserId>> {
    seconds_with(at, (table, first.into()), after, limit, |_, _| Ok(()))
}

/// The second ids as [`seconds`] has them. `see` gets each with its value.
pub(crate) fn seconds_with(
    at: At<'_>,
    (table, first): (AnyTable, u64),
    after: Option<UserId>,
    limit: usize,
    mut see: impl FnMut(UserId, &[u8]) -> Result<()>,
) -> Result<Vec<UserId>> {
    let prefix = keys::id(first);
    let from = after.map_or(prefix.to_vec(), |after| keys::of((first, after.get().saturating_add(1))).to_vec());
    at.beginning((table, Scope::Partition), &prefix, &from, limit, |key, value| {
        let (_, id): (u64, _) = table.key(key)?;
        see(id, value)?;
        Ok(id)
    })
}

/// The first partitions of a table above one, with a seek for each.
pub(crate) fn partitions_after(
    database: &Database,
    table: AnyTable,
    after: Option<UserId>,
    limit: usize,
) -> Result<Vec<UserId>> {
    let mut rows = database.now(Tier::Disk).rows(table, Scope::Table)?;
    let mut found = Vec::new();
    // No user is 0; a first row of the whole table may be.
    rows.seek(keys::id(after.map_or(1, |after| after.get().saturating_add(1))));
    while found.len() < limit {
        let Some((key, value)) = rows.item() else { break };
        if is_nothing(table, value) {
            rows.next();
            continue;
        }
        let partition: UserId = table.key(key.get(..keys::ID).unwrap_or_default())?;
        found.push(partition);
        let Some(next) = partition.get().checked_add(1) else { break };
        rows.seek(keys::id(next));
    }
    rows.status().map_err(|error| database.disk().map_or(error.clone(), |disk| disk.failure(error)))?;
    Ok(found)
}

/// Rows that stay when there is nothing left to count, or no entry.
fn is_nothing(table: AnyTable, value: &[u8]) -> bool {
    table == COUNTS && values::read_count(value) == Some(0) || table == INBOXES && inbox::is_empty(value)
}

/// Those of `among` with a row under `first`, or those without one.
pub(crate) fn with_row(
    at: At<'_>,
    table: AnyTable,
    first: impl Into<u64> + Copy,
    among: Vec<UserId>,
    has_row: bool,
) -> Result<Vec<UserId>> {
    let keys = among.iter().map(|second| keys::of((first.into(), *second)));
    let mut rows = at.get_many(table, keys)?.into_iter();
    Ok(among.into_iter().filter(|_| rows.next().flatten().is_some() == has_row).collect())
}

/// For each pair whether it has a row in one of these tables, as of one instant.
pub(crate) fn have_rows(
    database: &Database,
    of: &[AnyTable],
    pairs: &[(UserId, UserId)],
    tier: Tier,
) -> Result<Vec<bool>> {
    let snapshot = database.kv().snapshot();
    let at = database.at(&snapshot, tier);
    let mut have = vec![false; pairs.len()];
    for table in of {
        let keys = pairs.iter().map(|pair| keys::of(*pair));
        for (has, row) in have.iter_mut().zip(at.get_many(table, keys)?) {
            *has |= row.is_some();
        }
    }
    Ok(have)
}
