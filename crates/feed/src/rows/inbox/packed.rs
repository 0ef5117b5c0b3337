//! The bytes of an inbox: a row of `inboxes`, and a change that the engine merges into one. `docs/schema.md` describes
//! them.
//!
//! Entries stand newest first, in columns: differences of times, differences of ids, sources, and details of entries that
//! are not [plain](Entry::plain). A reader of the newest entries decodes only these.

use crate::rows::values;
use model::{Audience, ContentId, Cursor, Entry, KindId, UserId};

/// The first byte.
const VERSION: u8 = 2;
/// Bits of the second byte.
const HAS_FLOOR: u8 = 1;
const HAS_REMOVED: u8 = 2;
/// Bits of the number before the details of an entry; its kind stands above them.
const HAS_AUTHOR: u64 = 1;
const FOLLOWERS_ONLY: u64 = 2;

/// Bytes that are no inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Damaged;

/// The place of an entry among those of an inbox: an item may come through several sources.
pub(crate) type Place = (Cursor, UserId);

/// The place of an entry.
#[inline]
pub(crate) fn place(entry: &Entry) -> Place {
    (entry.cursor, entry.source)
}

/// An inbox, or a change of one, that is decoded from its bytes without a copy.
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
    /// Reads the header and the lengths of the columns, and checks that the bytes can hold the number of entries. Entries
    /// are checked one by one as they are read.
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
        let entries = Entries { places: Places::read(bytes)?, details: Details { rest: column(bytes)?, passed: 0 } };
        let removed = if flags & HAS_REMOVED == 0 { Places::default() } else { Places::read(bytes)? };
        if bytes.is_empty() { Ok(Self { floor, entries, removed }) } else { Err(Damaged) }
    }
}

/// Packs an inbox, or a change. Both lists are newest first, without repetition.
pub(crate) fn pack(floor: Option<Cursor>, entries: &[Entry], removed: &[Place]) -> Vec<u8> {
    let flags = if floor.is_some() { HAS_FLOOR } else { 0 } | if removed.is_empty() { 0 } else { HAS_REMOVED };
    let mut bytes = begin(flags, floor, 24 + 8 * entries.len() + 8 * removed.len());
    let mut scratch = Vec::new();
    put_places(&mut bytes, &mut scratch, entries.iter().map(place), Places::default());
    put_details(&mut bytes, &mut scratch, entries.iter(), 0, &[]);
    if !removed.is_empty() {
        put_places(&mut bytes, &mut scratch, removed.iter().copied(), Places::default());
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
    let copied = rest.places.bytes() + rest.details.rest.len();
    let mut bytes = begin(flags, floor, 40 + 8 * newer().count() + copied);
    let mut scratch = Vec::with_capacity(copied);
    put_places(&mut bytes, &mut scratch, newer().map(place), rest.places);
    let Details { rest: mut details, passed } = rest.details;
    let plain = if details.is_empty() { 0 } else { number(&mut details)?.saturating_sub(passed) };
    put_details(&mut bytes, &mut scratch, newer(), plain, details);
    Ok(bytes)
}

fn begin(flags: u8, floor: Option<Cursor>, about: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(about);
    bytes.extend([VERSION, flags]);
    if let Some(floor) = floor {
        bytes.extend_from_slice(&values::cursor(floor));
    }
    bytes
}

/// Moves the top bit, which marks a name, to the lowest place.
#[inline]
fn user_number(user: UserId) -> u64 {
    user.get().rotate_left(1)
}

#[inline]
fn user(bytes: &mut &[u8]) -> Result<UserId, Damaged> {
    UserId::new(number(bytes)?.rotate_right(1)).map_err(|_| Damaged)
}

/// Places, newest first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Places<'a> {
    left: usize,
    times: &'a [u8],
    ids: &'a [u8],
    sources: &'a [u8],
    last: Option<Place>,
}

impl<'a> Places<'a> {
    fn read(bytes: &mut &'a [u8]) -> Result<Self, Damaged> {
        let left = usize::try_from(number(bytes)?).map_err(|_| Damaged)?;
        let (times, ids, sources) = (column(bytes)?, column(bytes)?, column(bytes)?);
        // A number takes a byte at least.
        if times.len().min(ids.len()).min(sources.len()) < left {
            return Err(Damaged);
        }
        Ok(Self { left, times, ids, sources, last: None })
    }

    #[inline]
    fn read_next(&mut self) -> Result<Place, Damaged> {
        let (time, id) = (number(&mut self.times)?, number(&mut self.ids)?);
        let (at, id) = match self.last {
            None => (time, from_zigzag(id)),
            Some((last, _)) => (last.at.checked_sub(time).ok_or(Damaged)?, last.id.get().wrapping_add(from_zigzag(id))),
        };
        let place = (Cursor { at, id: ContentId::new(id).map_err(|_| Damaged)? }, user(&mut self.sources)?);
        if self.last.is_some_and(|last| last <= place) {
            return Err(Damaged);
        }
        self.last = Some(place);
        Ok(place)
    }

    /// The number of places left, by the header.
    pub(crate) fn len(&self) -> usize {
        self.left
    }

    fn bytes(&self) -> usize {
        self.times.len() + self.ids.len() + self.sources.len()
    }
}

impl Iterator for Places<'_> {
    type Item = Result<Place, Damaged>;

    /// Ends after an error.
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let next = self.read_next();
        if next.is_err() {
            self.left = 0;
        }
        Some(next)
    }
}

/// Kind, audience and author of the entries that are not plain.
#[derive(Debug, Clone, Copy, Default)]
struct Details<'a> {
    /// The number of plain entries before the next one that is not, its details, and so on; empty if none follows.
    rest: &'a [u8],
    /// The number of these plain entries that were read.
    passed: u64,
}

impl Details<'_> {
    /// The entry at the next place.
    #[inline]
    fn read_next(&mut self, (cursor, source): Place) -> Result<Entry, Damaged> {
        let mut rest = self.rest;
        if rest.is_empty() || self.passed < number(&mut rest)? {
            self.passed += 1;
            return Ok(Entry::plain(cursor, source));
        }
        let bits = number(&mut rest)?;
        let author = if bits & HAS_AUTHOR == 0 { source } else { user(&mut rest)? };
        let audience = if bits & FOLLOWERS_ONLY == 0 { Audience::Public } else { Audience::Followers };
        let kind = KindId(u8::try_from(bits >> 2).map_err(|_| Damaged)?);
        *self = Self { rest, passed: 0 };
        Ok(Entry { cursor, source, author, kind, audience })
    }
}

/// Entries, newest first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entries<'a> {
    places: Places<'a>,
    details: Details<'a>,
}

impl Entries<'_> {
    /// The number of entries left, by the header.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The first `count` entries, and the entry after them. Takes fewer, so that entries of one item stay together.
    pub(crate) fn split(self, count: usize) -> Result<(Self, Option<Entry>), Damaged> {
        let (mut rest, mut last, mut of_last) = (self, None, 0);
        for entry in rest.by_ref().take(count) {
            let cursor = entry?.cursor;
            of_last = if last == Some(cursor) { of_last + 1 } else { 1 };
            last = Some(cursor);
        }
        let mut behind = rest;
        if last.is_some() && behind.next().transpose()?.map(|behind| behind.cursor) == last {
            return self.split(count - of_last);
        }
        let Self { mut places, mut details } = self;
        let before = |all: &mut &[u8], rest: &[u8]| *all = &all[..all.len() - rest.len()];
        places.left -= rest.places.left;
        before(&mut places.times, rest.places.times);
        before(&mut places.ids, rest.places.ids);
        before(&mut places.sources, rest.places.sources);
        before(&mut details.rest, rest.details.rest);
        Ok((Self { places, details }, rest.next().transpose()?))
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Damaged>;

    /// Ends after an error.
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let place = self.places.next()?;
        Some(place.and_then(|place| self.details.read_next(place)))
    }
}

/// Puts `places`, then the places of `packed` as they are.
fn put_places(
    bytes: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    places: impl Iterator<Item = Place> + Clone,
    packed: Places<'_>,
) {
    put_number(bytes, (places.clone().count() + packed.left) as u64);
    let mut last = None;
    let times = places.clone().map(|(place, _)| last.replace(place.at).map_or(place.at, |last: u64| last - place.at));
    put_column(bytes, scratch, times, packed.times);
    let mut last = 0;
    let ids = places
        .clone()
        .map(|(place, _)| zigzag(place.id.get().wrapping_sub(std::mem::replace(&mut last, place.id.get()))));
    put_column(bytes, scratch, ids, packed.ids);
    put_column(bytes, scratch, places.map(|(_, source)| user_number(source)), packed.sources);
}

/// Puts the column of details: those of `entries`, then of `more_plain` plain entries, then `packed` as it is.
fn put_details<'e>(
    bytes: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
    entries: impl Iterator<Item = &'e Entry>,
    more_plain: u64,
    packed: &[u8],
) {
    scratch.clear();
    let mut plain = 0;
    for entry in entries {
        if entry.is_plain() {
            plain += 1;
            continue;
        }
        put_number(scratch, std::mem::take(&mut plain));
        let has_author = if entry.author == entry.source { 0 } else { HAS_AUTHOR };
        let audience = if entry.audience.is_public() { 0 } else { FOLLOWERS_ONLY };
        put_number(scratch, u64::from(entry.kind.0) << 2 | audience | has_author);
        if has_author != 0 {
            put_number(scratch, user_number(entry.author));
        }
    }
    if !packed.is_empty() {
        put_number(scratch, more_plain.saturating_add(plain));
        scratch.extend_from_slice(packed);
    }
    put_number(bytes, scratch.len() as u64);
    bytes.extend_from_slice(scratch);
}

/// Puts the length of a column in bytes, then `numbers`, then `packed` as it is.
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
#[inline]
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn number(bytes: &mut &[u8]) -> Result<u64, Damaged> {
    if let [first @ ..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Ok(u64::from(*first));
    }
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
#[inline]
fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ ((difference as i64) >> 63) as u64
}

#[inline]
fn from_zigzag(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests;
