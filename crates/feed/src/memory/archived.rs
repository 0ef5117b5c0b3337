//! Tables with an archive for their older rows: outboxes, and the lists of topics.
//!
//! The newest rows of a partition are in the *hot* table, which is small and often read. Older rows are moved to the
//! *archive*, oldest first. The partition's head in the hot table holds the floor: rows at or below it are valid in the
//! archive only, and compaction drops them from the hot table. Together the two tables always have the whole partition.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::rows::table::AnyTable;
use crate::rows::values::read_floor;
use crate::rows::walk::{Visit, Walk, go_on};
use crate::rows::{keys, values};
use kv::{At, Database, Tier, WriteBatch};
use model::error::Result;
use model::failpoint::Write;
use model::{ContentId, Cursor, Order, Span};

/// The partition of no user and no topic: its head in the archive tells that some partition has a floor.
pub(crate) const NOBODY: u64 = 0;

/// A hot table and its archive.
pub(crate) struct Archived {
    pub(crate) hot: AnyTable,
    pub(crate) archive: AnyTable,
    /// The kind of the change that moves rows.
    moving: Write,
    /// Whether any partition has a floor. If not, no floor is looked up.
    any: AtomicBool,
}

/// Floors of partitions, for a change of their rows.
pub(crate) struct Floors<'a> {
    of: &'a Archived,
    /// Those looked up so far.
    known: RefCell<HashMap<u64, Option<Cursor>>>,
}

/// One walk over both tables. The archive is opened when it is first needed, so after the hot table. Rows moved
/// meanwhile are in at least one of them, and the floor in the opened hot table tells which one is valid.
pub(crate) struct Walks<'a> {
    of: &'a Archived,
    at: At<'a>,
    hot: Walk<'a>,
    archive: Option<Walk<'a>>,
}

impl Archived {
    pub(crate) fn new(hot: AnyTable, archive: AnyTable, moving: Write) -> Self {
        Self { hot, archive, moving, any: AtomicBool::new(false) }
    }

    /// Whether any partition has a floor.
    pub(crate) fn has_floors(&self) -> bool {
        self.any.load(Ordering::SeqCst)
    }

    /// Looks up at start whether any partition has a floor.
    pub(crate) fn look_for_floors(&self, database: &Database) -> Result<()> {
        let mark = database.get(self.archive, &keys::head(NOBODY), Tier::Disk)?;
        self.any.store(mark.is_some(), Ordering::SeqCst);
        Ok(())
    }

    /// The floors for a change.
    pub(crate) fn floors(&self) -> Floors<'_> {
        Floors { of: self, known: RefCell::default() }
    }

    /// The floor of a partition, if it has one.
    pub(crate) fn floor(&self, at: At<'_>, partition: u64) -> Result<Option<Cursor>> {
        if !self.has_floors() {
            return Ok(None);
        }
        read_floor(at.get(self.hot, &keys::head(partition))?.as_deref())
    }

    /// Moves rows of a partition to the archive, oldest first, up to and including `newest`, at most `most`, in one
    /// write. Returns how many. No change may be under way.
    pub(crate) fn move_rows(&self, database: &Database, partition: u64, newest: Cursor, most: usize) -> Result<usize> {
        // Before the floor is visible: a reader that sees a floor looks into the archive.
        self.any.store(true, Ordering::SeqCst);
        let mut walk = Walk::new(database.now(Tier::Disk), self.hot)?;
        let floor = read_floor(walk.head(partition)?)?;
        let span = Span { before: newest.next_newer(), after: floor };
        let (hot, archive) = (self.hot, self.archive);
        let mut change = WriteBatch::default();
        change.put(archive, keys::head(NOBODY), []);
        let (mut moved, mut last) = (0, None);
        walk.rows(partition, span, Order::OldestFirst, &mut |cursor: Cursor, value| {
            change.put(archive, keys::of((partition, cursor)), value);
            moved += 1;
            last = Some(cursor);
            go_on(moved < most)
        })?;
        let Some(floor) = last else { return Ok(0) };
        change.put(hot, keys::head(partition), values::cursor(floor));
        // No row has this key. But with the deletion, the file with the floor spans the whole partition, so its
        // compaction includes the rows below the floor, also if the table has no other partition.
        change.delete(hot, keys::tail(partition));
        database.written().write(Some(self.moving), change, false)?;
        Ok(moved)
    }
}

impl Floors<'_> {
    /// The hot table.
    pub(crate) fn table(&self) -> AnyTable {
        self.of.hot
    }

    /// Puts a row into a change, in the table of its place, or removes it from both (`None`).
    pub(crate) fn set(
        &self,
        database: &Database,
        change: &mut WriteBatch,
        key: &[u8],
        value: Option<Vec<u8>>,
    ) -> Result<()> {
        let Archived { hot, archive, .. } = self.of;
        if let Some(value) = value {
            change.put(self.table_of(database, key)?, key, value);
            return Ok(());
        }
        change.delete(hot, key);
        if self.of.has_floors() {
            change.delete(archive, key);
        }
        Ok(())
    }

    /// The table for a new row of a partition.
    fn table_of(&self, database: &Database, key: &[u8]) -> Result<AnyTable> {
        let Archived { hot, archive, .. } = *self.of;
        let Some((partition, place)) = keys::place(key).filter(|_| self.of.has_floors()) else { return Ok(hot) };
        let known = self.known.borrow().get(&partition).copied();
        let floor = match known {
            Some(floor) => floor,
            None => {
                let floor = self.of.floor(database.now(Tier::Disk), partition)?;
                self.known.borrow_mut().insert(partition, floor);
                floor
            }
        };
        Ok(if Some(place) <= floor { archive } else { hot })
    }
}

impl<'a> Walks<'a> {
    /// Over the rows as they are now, or both tables at one instant. For that no rows may have been moved since that instant: a
    /// compaction drops moved rows even if an older snapshot needs them.
    pub(crate) fn new(of: &'a Archived, at: At<'a>) -> Result<Self> {
        Ok(Self { of, at, hot: Walk::new(at, of.hot)?, archive: None })
    }

    /// Visits the rows of a partition within `span`, in `order`, until `visit` breaks.
    pub(crate) fn rows(
        &mut self,
        partition: u64,
        span: Span<ContentId>,
        order: Order,
        visit: &mut Visit<'_, ContentId>,
    ) -> Result<()> {
        let (above, below) = self.parts(partition, span)?;
        let enough = Cell::new(false);
        let mut visit = |place: Cursor, value: &[u8]| {
            let flow = visit(place, value)?;
            enough.set(flow.is_break());
            Ok(flow)
        };
        let mut parts = [(false, Some(above).filter(|above| below.is_none() || !above.is_empty())), (true, below)];
        if order == Order::OldestFirst {
            parts.reverse();
        }
        for (is_archive, span) in parts {
            if let Some(span) = span.filter(|_| !enough.get()) {
                let walk = if is_archive { self.archive()? } else { &mut self.hot };
                walk.rows(partition, span, order, &mut visit)?;
            }
        }
        Ok(())
    }

    /// The part of a span in the hot table, and the part in the archive, if any.
    fn parts(&mut self, partition: u64, span: Span<ContentId>) -> Result<(Span<ContentId>, Option<Span<ContentId>>)> {
        // Asked after the hot table was opened: if a floor is in it, this is true.
        if !self.of.has_floors() {
            return Ok((span, None));
        }
        let Some(floor) = read_floor(self.hot.head(partition)?)? else { return Ok((span, None)) };
        let below = floor.next_newer().map_or(span, |top| span.older_than(top));
        Ok((span.newer_than(Some(floor)), Some(below).filter(|below| !below.is_empty())))
    }

    fn archive(&mut self) -> Result<&mut Walk<'a>> {
        let walk = match self.archive.take() {
            Some(walk) => walk,
            None => Walk::new(self.at, self.of.archive)?,
        };
        Ok(self.archive.insert(walk))
    }
}
