//! Changes of an inbox, and their merge into it by the engine.
//!
//! A change adds entries, removes some, and may raise the floor. It says nothing about other entries. So changes need
//! not read the inbox, and a change that is made twice is as good as one. The engine merges changes whenever it reads or
//! rewrites a row. Each merge also trims: of an inbox with more entries than its room, the newest ones stay, and the
//! floor rises to the first entry left out.

use std::cmp::Ordering;

use super::TOP;
use super::packed::{Damaged, Entries, Packed, Place, pack, pack_onto, place};
use model::{Cursor, Entry};

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
pub(crate) enum Step {
    Add(Entry),
    Remove(Place),
}

impl Step {
    fn place(&self) -> Place {
        match self {
            Self::Add(entry) => place(entry),
            Self::Remove(place) => *place,
        }
    }

    fn cursor(&self) -> Cursor {
        self.place().0
    }

    /// By `cmp`: the operators of tuples are slower.
    fn newest_first(&self, other: &Self) -> Ordering {
        other.place().cmp(&self.place())
    }

    /// The entry that it adds.
    fn added(&self) -> Option<Entry> {
        match self {
            Self::Add(entry) => Some(*entry),
            Self::Remove(_) => None,
        }
    }
}

/// A change of one inbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// The floor is at least here afterwards.
    pub(crate) floor: Option<Cursor>,
    /// Newest entries first; each place once.
    pub(crate) steps: Vec<Step>,
}

impl Change {
    /// A change of steps in any order of places. Of steps for one place the *first* counts: the last one made.
    pub(crate) fn of(floor: Option<Cursor>, mut last_made_first: Vec<Step>) -> Self {
        // A stable sort: it keeps the order of steps for one place, and merges the runs that it finds.
        last_made_first.sort_by(Step::newest_first);
        last_made_first.dedup_by_key(|step| step.place());
        Self { floor, steps: last_made_first }
    }

    /// The bytes of a change.
    pub(crate) fn pack(&self) -> Vec<u8> {
        let (mut added, mut removed) = (Vec::with_capacity(self.steps.len()), Vec::new());
        for step in &self.steps {
            match step {
                Step::Add(entry) => added.push(*entry),
                Step::Remove(place) => removed.push(*place),
            }
        }
        pack(self.floor, &added, &removed)
    }
}

/// Merges changes into a row; the operator of the table. A row or change that it cannot read makes an inbox that claims
/// nothing: its timeline comes from outboxes. It does not read entries that it only copies. A merge cannot fail, because
/// the engine would stop.
pub(crate) fn full<'a>(
    room: InboxRoom,
    present: Option<&'a [u8]>,
    changes: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let merged = match present {
        Some(row) => steps(changes).and_then(|change| onto(room, row, &change)),
        None => steps(changes).and_then(|change| trimmed(room, change.floor, added(&change), Entries::default())),
    };
    merged.unwrap_or_else(|Damaged| claims_nothing())
}

/// A change on top of a row. Entries of the row that are older than all of the change are copied as they are packed:
/// most changes are newer than the whole row.
fn onto(room: InboxRoom, row: &[u8], change: &Change) -> Result<Vec<u8>, Damaged> {
    let row = Packed::read(row)?;
    let floor = row.floor.max(change.floor);
    let kept = change.steps.partition_point(|step| Some(step.cursor()) > floor);
    let steps = change.steps.get(..kept).unwrap_or_default();
    let (mut newer, mut older) = (Vec::new(), row.entries);
    // A floor above that of the row may cut it at any place.
    let oldest = if floor > row.floor { None } else { Some(steps.last().map_or(Cursor::NEWEST, Step::cursor)) };
    loop {
        let mut rest = older;
        match rest.next().transpose()? {
            Some(entry) if Some(entry.cursor) >= oldest => newer.push(entry),
            _ => break,
        }
        older = rest;
    }
    newer.retain(|entry| Some(entry.cursor) > floor);
    let merged: Vec<_> = Merged::new(newer.into_iter().map(Ok), steps).collect::<Result<_, _>>()?;
    trimmed(room, floor, merged, older)
}

/// The entries that a change adds.
fn added(change: &Change) -> Vec<Entry> {
    change.steps.iter().filter_map(Step::added).collect()
}

/// Packs an inbox of `newer` and `older` entries, without those beyond its room.
fn trimmed(
    room: InboxRoom,
    mut floor: Option<Cursor>,
    mut newer: Vec<Entry>,
    mut older: Entries<'_>,
) -> Result<Vec<u8>, Damaged> {
    if newer.len().saturating_add(older.len()) > room.limit.saturating_add(room.slack) {
        let (kept, first_beyond) = older.split(room.limit.saturating_sub(newer.len()))?;
        older = kept;
        let first_beyond = newer.get(room.limit).copied().or(first_beyond);
        floor = floor.max(first_beyond.map(|entry| entry.cursor));
        newer.retain(|entry| Some(entry.cursor) > floor);
    }
    pack_onto(floor, &newer, older)
}

/// Merges changes into one.
pub(crate) fn partial<'a>(changes: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    steps(changes).map_or_else(|Damaged| claims_nothing(), |merged| merged.pack())
}

/// All steps of changes above the highest floor.
fn steps<'a>(changes: impl IntoIterator<Item = &'a [u8]>) -> Result<Change, Damaged> {
    let parts = changes.into_iter().map(Packed::read).collect::<Result<Vec<_>, _>>()?;
    let floor = parts.iter().filter_map(|part| part.floor).max();
    let mut steps = Vec::with_capacity(parts.iter().map(|part| part.entries.len().min(1 << 16)).sum());
    for part in parts.into_iter().rev() {
        for entry in part.entries {
            steps.push(Step::Add(entry?));
        }
        for place in part.removed {
            steps.push(Step::Remove(place?));
        }
    }
    steps.retain(|step| Some(step.cursor()) > floor);
    Ok(Change::of(floor, steps))
}

/// The row of a damaged inbox.
pub(crate) fn claims_nothing() -> Vec<u8> {
    pack(Some(TOP), &[], &[])
}

/// An inbox row with a change on top, newest first.
pub(crate) struct Merged<'a, I: Iterator<Item = Result<Entry, Damaged>>> {
    row: std::iter::Peekable<I>,
    change: std::slice::Iter<'a, Step>,
}

impl<'a, I: Iterator<Item = Result<Entry, Damaged>>> Merged<'a, I> {
    pub(crate) fn new(row: I, change: &'a [Step]) -> Self {
        Self { row: row.peekable(), change: change.iter() }
    }
}

impl<I: Iterator<Item = Result<Entry, Damaged>>> Iterator for Merged<'_, I> {
    type Item = Result<Entry, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let stored = match self.row.peek() {
                Some(Err(_)) => return self.row.next(),
                Some(Ok(entry)) => Some(place(entry)),
                None => None,
            };
            let Some(step) = self.change.as_slice().first().filter(|step| Some(step.place()) >= stored) else {
                return self.row.next();
            };
            self.change.next();
            if Some(step.place()) == stored {
                self.row.next();
            }
            if let Some(entry) = step.added() {
                return Some(Ok(entry));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use model::{ContentId, KindId, UserId};

    const ROOM: InboxRoom = InboxRoom { limit: 6, slack: 2 };

    /// The merge with all entries unpacked.
    fn plain(present: Option<&[u8]>, changes: &[Vec<u8>]) -> Vec<u8> {
        let all = present.into_iter().chain(changes.iter().map(Vec::as_slice));
        let mut merged = steps(all).expect("can be read");
        merged.steps.retain(|step| step.added().is_some());
        if merged.steps.len() > ROOM.limit + ROOM.slack {
            merged.floor = merged.floor.max(Some(merged.steps[ROOM.limit].cursor()));
            merged.steps.retain(|step| Some(step.cursor()) > merged.floor);
        }
        merged.pack()
    }

    fn cursor() -> impl Strategy<Value = Cursor> {
        // Differences of one byte and of several.
        (0..30_u64, 1..4_u64, prop::bool::weighted(0.1)).prop_map(|(at, id, far)| Cursor {
            at: if far { at * 1000 } else { at },
            id: ContentId::new(if far { id << 40 } else { id }).expect("in range"),
        })
    }

    fn change() -> impl Strategy<Value = Vec<u8>> {
        let user = || (1..300_u64).prop_map(|raw| UserId::new(raw).expect("in range"));
        let step = (cursor(), user(), prop::bool::weighted(0.8), prop::option::weighted(0.3, (user(), 0..9_u8)));
        let step = step.prop_map(|(cursor, source, adds, details)| match (adds, details) {
            (false, _) => Step::Remove((cursor, source)),
            (true, None) => Step::Add(Entry::plain(cursor, source)),
            (true, Some((author, kind))) => {
                Step::Add(Entry { kind: KindId(kind), ..Entry::plain(cursor, author).on(source) })
            }
        });
        let steps = prop::collection::vec(step, 0..8);
        (prop::option::weighted(0.1, cursor()), steps).prop_map(|(floor, mut steps)| {
            steps.retain(|step| Some(step.cursor()) > floor);
            Change::of(floor, steps).pack()
        })
    }

    fn read(row: &[u8]) -> (Option<Cursor>, Vec<Entry>) {
        let row = Packed::read(row).expect("can be read");
        (row.floor, row.entries.collect::<Result<_, _>>().expect("can be read"))
    }

    proptest! {
        #[test]
        fn a_merge_that_copies_old_entries_is_as_one_that_reads_all(
            groups in prop::collection::vec(prop::collection::vec(change(), 1..4), 1..12),
        ) {
            let mut row: Option<Vec<u8>> = None;
            for changes in &groups {
                let wanted = plain(row.as_deref(), changes);
                let merged = full(ROOM, row.as_deref(), changes.iter().map(Vec::as_slice));
                prop_assert_eq!(read(&merged), read(&wanted));
                prop_assert_eq!(&merged, &wanted);
                let alone = partial(changes.iter().map(Vec::as_slice));
                prop_assert_eq!(full(ROOM, row.as_deref(), [&*alone]), wanted);
                row = Some(merged);
            }
        }
    }

    #[test]
    fn a_row_or_change_that_cannot_be_read_claims_nothing() {
        let entry = |at| Entry::plain(Cursor { at, id: ContentId::MIN }, UserId::MIN);
        let (row, change) = (pack(None, &[entry(2), entry(1)], &[]), pack(None, &[entry(3)], &[]));
        for length in 0..row.len() {
            assert_eq!(full(ROOM, Some(&row[..length]), [&*change]), claims_nothing(), "{length} bytes of the row");
        }
        for length in 0..change.len() {
            assert_eq!(full(ROOM, Some(&row), [&change[..length]]), claims_nothing(), "{length} bytes of the change");
        }
        let (floor, entries) = read(&full(ROOM, Some(&row), [&*change]));
        assert_eq!((floor, entries), (None, vec![entry(3), entry(2), entry(1)]));
    }
}
