//! The rows of inboxes, with the changes in memory on top. One that cannot be read claims nothing ([`damage`](super::damage)).

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::rows::inbox::TOP;
use crate::rows::inbox::merge::{self, Change, Merged};
use crate::rows::inbox::packed::{self, Damaged, Packed};
use crate::rows::keys;
use crate::rows::tables::INBOXES;
use crate::store::Store;
use kv::{Tier, WriteBatch};
use model::error::{Error, Result};
use model::{ContentId, Cursor, Entry, Order, Span, UserId};

/// Most entries that a read from memory decodes: other requests wait for its thread.
pub(super) const MOST_ENTRIES: usize = 16_384;

/// A row of `inboxes` with the changes in memory that belong on top.
pub(crate) struct Inbox {
    row: Arc<[u8]>,
    change: Change,
}

impl Inbox {
    /// The floor, and the entries above it, newest first.
    pub(crate) fn contents(&self) -> (Option<Cursor>, impl Iterator<Item = Result<Entry, Damaged>>) {
        let row = match &*self.row {
            [] => Packed::default(),
            row => Packed::read(row).unwrap_or(Packed { floor: Some(TOP), ..Packed::default() }),
        };
        let floor = row.floor.max(self.change.floor);
        let is_above = move |entry: &Result<Entry, Damaged>| entry.map_or(true, |entry| Some(entry.cursor) > floor);
        (floor, Merged::new(row.entries, &self.change.steps).take_while(is_above))
    }

    /// The floor, and the entries of a source; `None` if the inbox is damaged.
    pub(crate) fn entries_of(&self, source: UserId) -> Option<(Option<Cursor>, HashSet<Entry>)> {
        let (floor, entries) = self.contents();
        let mut of_source = HashSet::new();
        for entry in entries {
            let entry = entry.ok()?;
            if entry.source == source {
                of_source.insert(entry);
            }
        }
        (floor != Some(TOP)).then_some((floor, of_source))
    }

    /// Whether it claims nothing for good, because something of it cannot be read.
    pub(crate) fn is_damaged(&self) -> bool {
        let (floor, mut entries) = self.contents();
        floor == Some(TOP) || entries.any(|entry| entry.is_err())
    }
}

/// Visits the entries of an inbox above its floor within `span`, in `order`, until `visit` breaks. Returns the
/// floor, at or below which the inbox claims nothing; `None` means that the inbox is complete. Floor and rows are
/// of one instant.
///
/// An inbox that cannot be read has its floor at [`Cursor::NEWEST`]. That may show only after some entries were
/// visited: entries at or below the floor do not count.
pub fn inbox(
    store: &Store,
    user: UserId,
    span: Span<ContentId>,
    order: Order,
    tier: Tier,
    visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<Option<Cursor>> {
    let inbox = read_inbox(store, user, tier)?;
    let (mut floor, entries) = inbox.contents();
    let most = if tier == Tier::Memory { MOST_ENTRIES } else { usize::MAX };
    let span = span.newer_than(floor);
    let mut newest_first = Vec::new();
    for (number, entry) in entries.enumerate() {
        let Ok(entry) = entry else {
            floor = Some(TOP);
            newest_first.clear();
            break;
        };
        if span.after.is_some_and(|after| entry.cursor <= after) {
            break;
        }
        if number >= most {
            return Err(Error::NotCached);
        }
        match order {
            _ if !span.contains(entry.cursor) => {}
            Order::NewestFirst if visit(entry).is_break() => break,
            Order::NewestFirst => {}
            Order::OldestFirst => newest_first.push(entry),
        }
    }
    let _ = newest_first.into_iter().rev().try_for_each(visit);
    if floor == Some(TOP) {
        note_damaged(store, user);
    }
    Ok(floor)
}

/// Raises the floor of an inbox; never lowers it. Merges and settles also raise floors themselves.
pub fn raise_floor(store: &Store, user: UserId, floor: Cursor) -> Result<()> {
    store.memory.inboxes.make_room(store)?;
    store.memory.inboxes.arrivals.change(user, Change::of(Some(floor), Vec::new()));
    Ok(())
}

/// Row and changes of one instant.
pub(crate) fn read_inbox(store: &Store, user: UserId, tier: Tier) -> Result<Inbox> {
    loop {
        let copy = store.memory.inboxes.arrivals.copy(user);
        let row = store.memory.inboxes.rows.get(user, || match store.get(&INBOXES, &keys::id(user.get()), tier) {
            Ok(row) => Ok(row.as_deref().unwrap_or_default().into()),
            Err(Error::NotCached) => Err(Error::NotCached),
            Err(error) => {
                note_unreadable(store, user, &error);
                Ok(merge::claims_nothing().into())
            }
        })?;
        if store.memory.inboxes.arrivals.goes_with(user, &copy) {
            return Ok(Inbox { row, change: copy.change });
        }
    }
}

/// The floor of an inbox.
pub(crate) fn floor(store: &Store, user: UserId) -> Result<Option<Cursor>> {
    Ok(read_inbox(store, user, Tier::Disk)?.contents().0)
}

/// Merges entries (newest first, all above the floor) into an inbox in a change, and raises the floor.
pub(crate) fn put_inbox(batch: &mut WriteBatch, user: UserId, floor: Option<Cursor>, entries: &[Entry]) {
    batch.merge(&INBOXES, keys::id(user.get()), packed::pack(floor, entries, &[]));
}

/// Makes sure that no removal of an entry of this user is in memory only: it would be written after a change that
/// brings the entry back, and take it away again. The caller holds the user's lock, so no settle makes another one.
pub(crate) fn write_removals(store: &Store, user: UserId) -> Result<()> {
    if store.memory.inboxes.arrivals.removes(user) { store.write_arrivals() } else { Ok(()) }
}

/// Notes that a read found the inbox of a user damaged.
pub(crate) fn note_damaged(store: &Store, user: UserId) {
    store.memory.inboxes.damaged.note(user, "its row, or a change of it, cannot be decoded");
}

/// Notes an inbox that the engine cannot read.
pub(crate) fn note_unreadable(store: &Store, user: UserId, error: &Error) {
    store.memory.inboxes.damaged.note(user, &error.to_string());
    if let Ok(disk) = store.disk() {
        disk.rebuild.as_ref().inspect(|rebuild| rebuild.tell(error));
    }
}
