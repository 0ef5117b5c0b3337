//! Outboxes: an author's entries, newest first, in two tables.
//!
//! The newest stand in `outbox`, small and hot. Where their number is limited, older ones are moved
//! to `outbox_archive`, oldest first. The head row of a partition in `outbox` holds the floor: what
//! is at or below it counts in the archive only, and compaction drops its rows from `outbox`.
//! Together the two are always the whole outbox.

use std::cell::Cell;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use rocksdb::WriteBatch;

use super::inbox::read_floor;
use super::tables::{OUTBOX, OUTBOX_ARCHIVE, Table};
use super::walk::Walk;
use super::{Rocks, keys, values};
use crate::error::Result;
use crate::failpoint::Write;
use crate::model::{ContentId, Cursor, Entry, Order, Span, UserId};
use crate::store::Tier;

/// A partition without a user: its head in the archive says that some outbox has a floor.
const NOBODY: u64 = 0;

impl Rocks {
    /// See [`Store::outboxes`](crate::store::Store::outboxes).
    pub fn outboxes(
        &self,
        authors: &[UserId],
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        if authors.is_empty() || limit == 0 || span.is_empty() {
            return Ok(Vec::new());
        }
        // Ranks ascend in the order asked for, so the heap's top is the last of the first `limit`.
        // Inverting twice gives the place back.
        let rank = |(at, id): (u64, u64)| match order {
            Order::NewestFirst => (!at, !id),
            Order::OldestFirst => (at, id),
        };
        // The archive is opened after the outbox, so what was moved is in one of them at least.
        let mut hot = Walk::new(self, OUTBOX, tier)?;
        let mut archive = if self.has_archive() { Some(Walk::new(self, OUTBOX_ARCHIVE, tier)?) } else { None };
        let mut first = BinaryHeap::new();
        for author in authors {
            let enough = Cell::new(false);
            let mut visit = |cursor: Cursor, _: &[u8]| {
                let row = (rank((cursor.at, cursor.id.get())), *author);
                if first.len() == limit {
                    if first.peek().is_some_and(|last| *last < row) {
                        enough.set(true);
                        return Ok(ControlFlow::Break(()));
                    }
                    first.pop();
                }
                first.push(row);
                Ok(ControlFlow::Continue(()))
            };
            let floor = match &archive {
                None => None,
                Some(_) => read_floor(hot.head(author.get())?)?,
            };
            let (Some(archive), Some(floor)) = (&mut archive, floor) else {
                hot.rows(author.get(), span, order, &mut visit)?;
                continue;
            };
            let above = span.newer_than(Some(floor));
            let below = floor.next_newer().map_or(span, |top| span.older_than(top));
            let mut parts = [(&mut hot, above), (archive, below)];
            if order == Order::OldestFirst {
                parts.reverse();
            }
            let [(first_walk, first_span), (second_walk, second_span)] = parts;
            first_walk.rows(author.get(), first_span, order, &mut visit)?;
            if !enough.get() && !second_span.is_empty() {
                second_walk.rows(author.get(), second_span, order, &mut visit)?;
            }
        }
        let entry = |(place, author)| {
            let (at, id) = rank(place);
            keys::cursor(at, id).map(|cursor| Entry { cursor, author })
        };
        Ok(first.into_sorted_vec().into_iter().filter_map(entry).collect())
    }

    /// Where a new entry belongs. The caller holds the author's outbox lock, shared, until it is written.
    pub(super) fn outbox_table(&self, entry: Entry) -> Result<Table> {
        if !self.has_archive() {
            return Ok(OUTBOX);
        }
        let head = self.get(OUTBOX, &keys::head(entry.author.get()), Tier::Disk)?;
        Ok(if Some(entry.cursor) <= read_floor(head.as_deref())? { OUTBOX_ARCHIVE } else { OUTBOX })
    }

    /// Adds the end of an entry to a change, wherever it stands. The caller holds the author's outbox
    /// lock, shared, until the change is written.
    pub(super) fn delete_outbox_row(&self, change: &mut WriteBatch, entry: Entry) -> Result<()> {
        let key = keys::entry(entry.author, entry.cursor);
        change.delete_cf(self.family(OUTBOX)?, key);
        if self.has_archive() {
            change.delete_cf(self.family(OUTBOX_ARCHIVE)?, key);
        }
        Ok(())
    }

    /// See [`Store::archive_outbox`](crate::store::Store::archive_outbox).
    pub fn archive_outbox(&self, author: UserId, newest: Cursor, most: usize) -> Result<usize> {
        let _lock = self.outbox_locks.exclusive([author.get()]);
        // Before the floor can be seen: whoever sees one looks into the archive.
        self.archived.store(true, Ordering::SeqCst);
        let mut walk = Walk::new(self, OUTBOX, Tier::Disk)?;
        let floor = read_floor(walk.head(author.get())?)?;
        let span = Span { before: newest.next_newer(), after: floor };
        let mut moved = Vec::new();
        walk.rows(author.get(), span, Order::OldestFirst, &mut |cursor: Cursor, _| {
            moved.push(cursor);
            Ok(if moved.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        let Some(floor) = moved.last() else { return Ok(0) };
        let (hot, archive) = (self.family(OUTBOX)?, self.family(OUTBOX_ARCHIVE)?);
        let mut change = WriteBatch::default();
        change.put_cf(archive, keys::head(NOBODY), []);
        for cursor in &moved {
            change.put_cf(archive, keys::entry(author, *cursor), []);
        }
        change.put_cf(hot, keys::head(author.get()), values::cursor(*floor));
        self.follow_up(Write::Archive, change)?;
        Ok(moved.len())
    }

    pub(super) fn has_archive(&self) -> bool {
        self.archived.load(Ordering::SeqCst)
    }

    /// Whether anything was ever moved to the archive.
    pub(super) fn look_for_archive(&self) -> Result<bool> {
        Ok(self.get(OUTBOX_ARCHIVE, &keys::head(NOBODY), Tier::Disk)?.is_some())
    }
}
