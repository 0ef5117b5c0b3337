//! Changes of an inbox, and their merge into it by the engine.
//!
//! A change adds entries, removes some, and may raise the floor. It says nothing about other entries. So changes need
//! not read the inbox, and a change that is made twice is as good as one. The engine merges changes whenever it reads or
//! rewrites a row. Each merge also trims: of an inbox with more entries than its room, the newest ones stay, and the
//! floor rises to the first entry left out.

use std::cmp::Reverse;

use rocksdb::MergeOperands;

use super::packed::{Damaged, Packed, pack};
use crate::model::{Cursor, Entry, UserId};

/// How many entries an inbox may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxRoom {
    /// Entries that a trim leaves.
    pub limit: usize,
    /// Entries beyond the limit that an inbox may have before it is trimmed. Each trim costs as much as the inbox has
    /// entries; with the slack, not every merge is a trim.
    pub slack: usize,
}

/// An entry that a change adds or removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) cursor: Cursor,
    /// `None` to remove it.
    pub(super) author: Option<UserId>,
}

impl From<Entry> for Step {
    fn from(Entry { cursor, author }: Entry) -> Self {
        Self { cursor, author: Some(author) }
    }
}

/// A change of one inbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// The floor is at least here afterwards.
    pub(super) floor: Option<Cursor>,
    /// Newest entries first; each place once.
    pub(super) steps: Vec<Step>,
}

impl Change {
    /// A change of steps in any order of places. Of steps for one place the *first* counts: the last one made.
    pub(super) fn of(floor: Option<Cursor>, mut last_made_first: Vec<Step>) -> Self {
        // A stable sort: it keeps the order of steps for one place, and merges the runs that it finds.
        last_made_first.sort_by_key(|step| Reverse(step.cursor));
        last_made_first.dedup_by_key(|step| step.cursor);
        Self { floor, steps: last_made_first }
    }

    /// The bytes of a change.
    pub(super) fn pack(&self) -> Vec<u8> {
        let (mut added, mut removed) = (Vec::with_capacity(self.steps.len()), Vec::new());
        for step in &self.steps {
            match step.author {
                Some(author) => added.push(Entry { cursor: step.cursor, author }),
                None => removed.push(step.cursor),
            }
        }
        pack(self.floor, &added, &removed)
    }
}

/// Merges changes into a row; the operator of the table. A row or change that cannot be read makes an inbox that claims
/// nothing: its timeline comes from outboxes. A merge cannot fail, because the engine would stop.
pub(super) fn full(room: InboxRoom, present: Option<&[u8]>, changes: &MergeOperands) -> Vec<u8> {
    let merged = steps(present, changes).map(|mut merged| {
        merged.steps.retain(|step| step.author.is_some());
        if merged.steps.len() > room.limit.saturating_add(room.slack)
            && let Some(first_beyond) = merged.steps.get(room.limit)
        {
            merged.floor = merged.floor.max(Some(first_beyond.cursor));
            merged.steps.truncate(room.limit);
        }
        merged.pack()
    });
    merged.unwrap_or_else(|Damaged| claims_nothing())
}

/// Merges changes into one.
pub(super) fn partial(changes: &MergeOperands) -> Vec<u8> {
    steps(None, changes).map_or_else(|Damaged| claims_nothing(), |merged| merged.pack())
}

/// All steps above the highest floor.
fn steps(present: Option<&[u8]>, changes: &MergeOperands) -> Result<Change, Damaged> {
    let parts = present.into_iter().chain(changes).map(Packed::read).collect::<Result<Vec<_>, _>>()?;
    let floor = parts.iter().filter_map(|part| part.floor).max();
    let mut steps = Vec::with_capacity(parts.iter().map(|part| part.entries.len().min(1 << 16)).sum());
    for part in parts.into_iter().rev() {
        for entry in part.entries {
            steps.push(Step::from(entry?));
        }
        for cursor in part.removed {
            steps.push(Step { cursor: cursor?, author: None });
        }
    }
    steps.retain(|step| Some(step.cursor) > floor);
    Ok(Change::of(floor, steps))
}

fn claims_nothing() -> Vec<u8> {
    pack(Some(Cursor::NEWEST), &[], &[])
}

/// An inbox row with a change on top, newest first.
pub(super) struct Merged<'a, I: Iterator<Item = Result<Entry, Damaged>>> {
    row: std::iter::Peekable<I>,
    change: std::slice::Iter<'a, Step>,
}

impl<'a, I: Iterator<Item = Result<Entry, Damaged>>> Merged<'a, I> {
    pub(super) fn new(row: I, change: &'a [Step]) -> Self {
        Self { row: row.peekable(), change: change.iter() }
    }
}

impl<I: Iterator<Item = Result<Entry, Damaged>>> Iterator for Merged<'_, I> {
    type Item = Result<Entry, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let stored = match self.row.peek() {
                Some(Err(_)) => return self.row.next(),
                Some(Ok(entry)) => Some(entry.cursor),
                None => None,
            };
            let Some(step) = self.change.as_slice().first().filter(|step| Some(step.cursor) >= stored) else {
                return self.row.next();
            };
            self.change.next();
            if Some(step.cursor) == stored {
                self.row.next();
            }
            if let Some(author) = step.author {
                return Some(Ok(Entry { cursor: step.cursor, author }));
            }
        }
    }
}
