//! The bytes of an inbox: a row of `inboxes`, and a change that the engine merges into one. `docs/schema.md` describes
//! them.
//!
//! Entries stand newest first, in three columns, each as small differences: times, ids, authors. A reader of the newest
//! entries decodes only these.

use crate::rows::values;
use model::{ContentId, Cursor, Entry, UserId};

/// The first byte.
const VERSION: u8 = 1;
/// Bits of the second byte.
const HAS_FLOOR: u8 = 1;
const HAS_REMOVED: u8 = 2;

/// Bytes that are no inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

/// An inbox, or a change of one, that is read where it lies.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Packed<'a> {
    /// The inbox claims nothing at or below it.
    pub(crate) floor: Option<Cursor>,
    /// Entries of the inbox, or that the change adds.
    pub(crate) entries: Entries<'a>,
    /// Places of entries that the change removes; none in a row.
    pub(crate) removed: Places<'a>,
}

impl<'a> Packed<'a> {
    /// Reads the frame, which bounds the number of entries by the number of bytes. Entries are checked one by one as they
    /// are read.
    pub(crate) fn read(mut bytes: &'a [u8]) -> Result<Self, Damaged> {
        let bytes = &mut bytes;
        let [version, flags] = *take(bytes, 2)? else { return Err(Damaged) };
        if version != VERSION || flags > (HAS_FLOOR | HAS_REMOVED) {
            return Err(Damaged);
        }
        let floor = match flags & HAS_FLOOR {
            0 => None,
            _ => Some(values::read_cursor(take(bytes, 16)?).ok_or(Damaged)?),
        };
        let places = Places::read(bytes)?;
        let entries = Entries { places, authors: column(bytes)? };
        if entries.authors.len() < places.left {
            return Err(Damaged);
        }
        let removed = if flags & HAS_REMOVED == 0 { Places::default() } else { Places::read(bytes)? };
        if bytes.is_empty() { Ok(Self { floor, entries, removed }) } else { Err(Damaged) }
    }
}

/// Packs an inbox, or a change. Both lists are newest first, without repetition.
pub(crate) fn pack(floor: Option<Cursor>, entries: &[Entry], removed: &[Cursor]) -> Vec<u8> {
    let flags = if floor.is_some() { HAS_FLOOR } else { 0 } | if removed.is_empty() { 0 } else { HAS_REMOVED };
    let mut bytes = begin(flags, floor, 24 + 8 * entries.len() + 4 * removed.len());
    let mut scratch = Vec::new();
    put_places(&mut bytes, &mut scratch, entries.iter().map(|entry| entry.cursor), Tail::default());
    put_column(&mut bytes, &mut scratch, entries.iter().map(|entry| author_number(entry.author)), &[]);
    if !removed.is_empty() {
        put_places(&mut bytes, &mut scratch, removed.iter().copied(), Tail::default());
    }
    bytes
}

/// Packs an inbox of `newer` entries and `older` ones, which are copied as they are packed already.
pub(crate) fn pack_onto(floor: Option<Cursor>, newer: &[Entry], older: Entries<'_>) -> Result<Vec<u8>, Damaged> {
    let mut rest = older;
    let Some(first) = rest.next().transpose()? else { return Ok(pack(floor, newer, &[])) };
    // The difference between the first of them and the entry before is another one now.
    let newer = || newer.iter().chain([&first]);
    let flags = if floor.is_some() { HAS_FLOOR } else { 0 };
    let copied = rest.places.times.len() + rest.places.ids.len() + rest.authors.len();
    let mut bytes = begin(flags, floor, 40 + 8 * newer().count() + copied);
    let mut scratch = Vec::with_capacity(copied);
    let Places { left, times, ids, .. } = rest.places;
    let places = newer().map(|entry| entry.cursor);
    put_places(&mut bytes, &mut scratch, places, Tail { count: left, times, ids });
    put_column(&mut bytes, &mut scratch, newer().map(|entry| author_number(entry.author)), rest.authors);
    Ok(bytes)
}

fn begin(flags: u8, floor: Option<Cursor>, about: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(about);
    bytes.extend([VERSION, flags]);
    if let Some(floor) = floor {
        bytes.extend(values::cursor(floor));
    }
    bytes
}

/// Rotated, because the top bit marks a name.
fn author_number(author: UserId) -> u64 {
    author.get().rotate_left(1)
}

/// Places, newest first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Places<'a> {
    left: usize,
    times: &'a [u8],
    ids: &'a [u8],
    last: Option<Cursor>,
}

impl<'a> Places<'a> {
    fn read(bytes: &mut &'a [u8]) -> Result<Self, Damaged> {
        let left = usize::try_from(number(bytes)?).map_err(|_| Damaged)?;
        let (times, ids) = (column(bytes)?, column(bytes)?);
        // A number takes a byte at least.
        if times.len().min(ids.len()) < left {
            return Err(Damaged);
        }
        Ok(Self { left, times, ids, last: None })
    }

    fn read_next(&mut self) -> Result<Cursor, Damaged> {
        let (time, id) = (number(&mut self.times)?, number(&mut self.ids)?);
        let (at, id) = match self.last {
            None => (time, from_zigzag(id)),
            Some(last) => (last.at.checked_sub(time).ok_or(Damaged)?, last.id.get().wrapping_add(from_zigzag(id))),
        };
        let cursor = Cursor { at, id: ContentId::new(id).map_err(|_| Damaged)? };
        if self.last.is_some_and(|last| last <= cursor) {
            return Err(Damaged);
        }
        self.last = Some(cursor);
        Ok(cursor)
    }

    /// How many are left, as the frame says.
    pub(crate) fn len(&self) -> usize {
        self.left
    }
}

impl Iterator for Places<'_> {
    type Item = Result<Cursor, Damaged>;

    /// Ends after an error.
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let next = self.read_next();
        if next.is_err() {
            self.left = 0;
        }
        Some(next)
    }
}

/// Entries, newest first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entries<'a> {
    places: Places<'a>,
    authors: &'a [u8],
}

impl Entries<'_> {
    /// How many are left, as the frame says.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The first `count` of them, and the one behind these.
    pub(crate) fn split(self, count: usize) -> Result<(Self, Option<Entry>), Damaged> {
        let mut rest = self;
        for entry in rest.by_ref().take(count) {
            entry?;
        }
        let Self { mut places, authors } = self;
        places.left -= rest.places.left;
        places.times = &places.times[..places.times.len() - rest.places.times.len()];
        places.ids = &places.ids[..places.ids.len() - rest.places.ids.len()];
        let authors = &authors[..authors.len() - rest.authors.len()];
        Ok((Self { places, authors }, rest.next().transpose()?))
    }

    fn author(&mut self) -> Result<UserId, Damaged> {
        UserId::new(number(&mut self.authors)?.rotate_right(1)).map_err(|_| Damaged)
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Damaged>;

    /// Ends after an error.
    fn next(&mut self) -> Option<Self::Item> {
        let cursor = self.places.next()?;
        Some(cursor.and_then(|cursor| Ok(Entry { cursor, author: self.author()? })))
    }
}

/// Packed differences that follow others.
#[derive(Default)]
struct Tail<'a> {
    count: usize,
    times: &'a [u8],
    ids: &'a [u8],
}

fn put_places(
    bytes: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    places: impl Iterator<Item = Cursor> + Clone,
    tail: Tail<'_>,
) {
    put_number(bytes, (places.clone().count() + tail.count) as u64);
    let mut last = None;
    let times = places.clone().map(|place| last.replace(place.at).map_or(place.at, |last: u64| last - place.at));
    put_column(bytes, scratch, times, tail.times);
    let mut last = 0;
    let ids = places.map(|place| zigzag(place.id.get().wrapping_sub(std::mem::replace(&mut last, place.id.get()))));
    put_column(bytes, scratch, ids, tail.ids);
}

/// Puts the length of a column, then its numbers, the last of them packed already.
fn put_column(bytes: &mut Vec<u8>, scratch: &mut Vec<u8>, numbers: impl Iterator<Item = u64>, packed: &[u8]) {
    scratch.clear();
    numbers.for_each(|number| put_number(scratch, number));
    scratch.extend_from_slice(packed);
    put_number(bytes, scratch.len() as u64);
    bytes.extend_from_slice(scratch);
}

fn column<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Damaged> {
    let length = usize::try_from(number(bytes)?).map_err(|_| Damaged)?;
    take(bytes, length)
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Result<&'a [u8], Damaged> {
    let (taken, rest) = bytes.split_at_checked(length).ok_or(Damaged)?;
    *bytes = rest;
    Ok(taken)
}

/// LEB128: seven bits a byte, lowest first; the top bit says that more follow.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn number(bytes: &mut &[u8]) -> Result<u64, Damaged> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first().ok_or(Damaged)?;
        *bytes = rest;
        if shift == 63 && byte > 1 {
            return Err(Damaged);
        }
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
        shift += 7;
    }
}

/// A difference of either sign as a small number.
fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ ((difference as i64) >> 63) as u64
}

fn from_zigzag(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cursor(at: u64, id: u64) -> Cursor {
        Cursor { at, id: ContentId::new(id).expect("in range") }
    }

    fn entry(at: u64, id: u64, author: u64) -> Entry {
        Entry { cursor: cursor(at, id), author: UserId::new(author).expect("in range") }
    }

    /// The parts of packed bytes.
    type Parts = (Option<Cursor>, Vec<Entry>, Vec<Cursor>);

    fn parts(bytes: &[u8]) -> Result<Parts, Damaged> {
        let Packed { floor, entries, removed } = Packed::read(bytes)?;
        Ok((floor, entries.collect::<Result<_, _>>()?, removed.collect::<Result<_, _>>()?))
    }

    #[test]
    fn the_bytes_are_these() {
        let entries = [entry(1000, 7, 300), entry(1000, 5, 2), entry(990, 6, (1 << 63) + 1)];
        let bytes = pack(Some(cursor(1, 2)), &entries, &[cursor(980, 4)]);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "0103\
             0000000000000001\
             0000000000000002\
             0304e807000a\
             030e0302\
             04d8040403\
             0102d4070108"
        );
        assert_eq!(pack(None, &[], &[]), [1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn more_entries_than_bytes_are_refused() {
        let bytes = pack(None, &[entry(1000, 7, 300), entry(1000, 5, 2)], &[cursor(980, 4)]);
        let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1];
        for count in [&[9][..], &huge] {
            let damaged = [&bytes[..2], count, &bytes[3..]].concat();
            assert!(Packed::read(&damaged).is_err());
        }
    }

    #[test]
    fn damaged_bytes_are_refused_and_never_panic() {
        let entries = [entry(1000, 7, 300), entry(1000, 5, 2), entry(990, 6, 1)];
        let bytes = pack(Some(cursor(1, 2)), &entries, &[cursor(980, 4)]);
        assert!(parts(&bytes).is_ok());
        for length in 0..bytes.len() {
            assert_eq!(parts(&bytes[..length]), Err(Damaged), "{length} bytes");
        }
        assert_eq!(parts(&[&bytes[..], &[0]].concat()), Err(Damaged));
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok((_, entries, removed)) = parts(&bytes) {
                assert!(entries.is_sorted_by(|a, b| a.cursor > b.cursor) && removed.is_sorted_by(|a, b| a > b));
            }
        }
    }

    prop_compose! {
        fn places()(mut places in prop::collection::vec((0..=model::MAX_MILLIS, 1..=u64::MAX), 0..50)) -> Vec<Cursor> {
            places.sort_unstable_by(|a, b| b.cmp(a));
            places.dedup();
            places.into_iter().map(|(at, id)| cursor(at, id)).collect()
        }
    }

    proptest! {
        #[test]
        fn packed_entries_are_read_back(
            floor in prop::option::of((0..=model::MAX_MILLIS, 1..=u64::MAX)),
            added in places(),
            removed in places(),
            author in 1..=u64::MAX,
        ) {
            let floor = floor.map(|(at, id)| cursor(at, id));
            let author = |place: &Cursor| UserId::new((author ^ place.id.get()).max(1)).expect("in range");
            let entries: Vec<_> = added.iter().map(|place| Entry { cursor: *place, author: author(place) }).collect();
            let bytes = pack(floor, &entries, &removed);
            prop_assert_eq!(parts(&bytes), Ok((floor, entries, removed)));
        }
    }
}
