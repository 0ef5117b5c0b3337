//! Changes of an inbox, and their merge into it by the engine.
//!
//! A change adds entries, removes some, and may raise the floor. It says nothing about other entries. So changes need
//! not read the inbox, and a change that is made twice is as good as one. The engine merges changes whenever it reads or
//! rewrites a row. Each merge also trims: of an inbox with more entries than its room, the newest ones stay, and the
//! floor rises to the first entry left out.

use std::cmp::Ordering;

use super::TOP;
use super::packed::{Damaged, Entries, Packed, Place, pack, pack_onto, place};
use crate::options::InboxRoom;
use model::{Cursor, Entry};

/// An entry that a change adds or removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Add(Entry),
    Remove(Place),
}

impl Step {
    #[inline]
    fn place(&self) -> Place {
        match self {
            Self::Add(entry) => place(entry),
            Self::Remove(place) => *place,
        }
    }

    #[inline]
    pub(crate) fn cursor(&self) -> Cursor {
        self.place().0
    }

    /// By `cmp`: the operators of tuples are slower.
    #[inline]
    fn newest_first(&self, other: &Self) -> Ordering {
        other.place().cmp(&self.place())
    }

    /// The entry that it adds.
    #[inline]
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
    /// Those at or below the floor are left out.
    pub(crate) fn of(floor: Option<Cursor>, mut last_made_first: Vec<Step>) -> Self {
        last_made_first.retain(|step| Some(step.cursor()) > floor);
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
    let row = present.map_or(Ok(Packed::default()), Packed::read);
    let merged = row.and_then(|row| {
        let (floor, newer, older) = onto(row, &steps(&read(changes)?)?)?;
        trimmed(room, floor, newer, older)
    });
    merged.unwrap_or_else(|Damaged| claims_nothing())
}

/// Puts a change on top of a row, or on top of an older change if neither removes anything. Returns the floor, the newest entries
/// of both, and the rest of the base. The rest is not read: most changes are newer than the whole base.
fn onto<'a>(base: Packed<'a>, change: &Change) -> Result<(Option<Cursor>, Vec<Entry>, Entries<'a>), Damaged> {
    let floor = base.floor.max(change.floor);
    let kept = change.steps.partition_point(|step| Some(step.cursor()) > floor);
    let steps = change.steps.get(..kept).unwrap_or_default();
    let (mut newer, mut older) = (Vec::new(), base.entries);
    // A floor above that of the base may cut it at any place.
    let oldest = if floor > base.floor { None } else { Some(steps.last().map_or(Cursor::NEWEST, Step::cursor)) };
    loop {
        let mut rest = older;
        match rest.next().transpose()? {
            Some(entry) if Some(entry.cursor) >= oldest => newer.push(entry),
            _ => break,
        }
        older = rest;
    }
    newer.retain(|entry| Some(entry.cursor) > floor);
    let newer = Merged::new(newer.into_iter().map(Ok), steps).collect::<Result<_, _>>()?;
    Ok((floor, newer, older))
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
    read(changes).and_then(|changes| joined(&changes)).unwrap_or_else(|Damaged| claims_nothing())
}

/// The oldest change is usually the sum of many, so its entries are copied. If any change removes entries, all are read: the row
/// below may have these, so the removals must stay.
fn joined(changes: &[Packed<'_>]) -> Result<Vec<u8>, Damaged> {
    let Some((oldest, newer)) = changes.split_first() else { return Ok(Change::default().pack()) };
    if changes.iter().any(|change| change.removed.len() > 0) {
        return Ok(steps(changes)?.pack());
    }
    let (floor, newer, older) = onto(*oldest, &steps(newer)?)?;
    pack_onto(floor, &newer, older)
}

fn read<'a>(changes: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Packed<'a>>, Damaged> {
    changes.into_iter().map(Packed::read).collect()
}

/// The sum of changes, of which the oldest comes first: their steps above the highest floor.
fn steps(changes: &[Packed<'_>]) -> Result<Change, Damaged> {
    let floor = changes.iter().filter_map(|change| change.floor).max();
    let mut steps = Vec::with_capacity(changes.iter().map(|change| change.entries.len().min(1 << 16)).sum());
    for change in changes.iter().rev() {
        for entry in change.entries {
            steps.push(Step::Add(entry?));
        }
        for place in change.removed {
            steps.push(Step::Remove(place?));
        }
    }
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
        let mut merged = super::read(all).and_then(|all| steps(&all)).expect("can be read");
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
        (prop::option::weighted(0.1, cursor()), steps).prop_map(|(floor, steps)| Change::of(floor, steps).pack())
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
                prop_assert_eq!(&full(ROOM, row.as_deref(), [&*alone]), &wanted);
                // The engine merges some changes before others.
                let (first, rest) = changes.split_at(changes.len() / 2 + 1);
                let first = partial(first.iter().map(Vec::as_slice));
                let grouped: Vec<_> = [&*first].into_iter().chain(rest.iter().map(Vec::as_slice)).collect();
                prop_assert_eq!(&partial(grouped.iter().copied()), &alone);
                prop_assert_eq!(&full(ROOM, row.as_deref(), grouped), &wanted);
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
        // A place stands there twice, in entries that a merge of changes copies.
        let damaged = pack(None, &[entry(7), entry(6), entry(6)], &[]);
        let copied = partial([&*damaged, &*pack(None, &[entry(8)], &[])]);
        assert_ne!(copied, claims_nothing());
        assert_eq!(full(ROOM, Some(&row), [&*copied]), claims_nothing());
        let (floor, entries) = read(&full(ROOM, Some(&row), [&*change]));
        assert_eq!((floor, entries), (None, vec![entry(3), entry(2), entry(1)]));
    }
}
