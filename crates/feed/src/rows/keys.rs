//! The keys of every table: parts in their order, big-endian. A table declares the type of its keys, and takes the keys of it.
//! `docs/schema.md` describes them, the golden tests below prove them.
//!
//! Times and ids of places in lists are stored inverted (`!x`), so that a forward scan gives the newest first.

mod fields;
mod types;

use std::fmt;
use std::ops::Deref;

pub(crate) use self::fields::Counter;
pub(crate) use self::types::{ErasureHash, Key, KeyType, ListName, Name, Nickname, Note, TopicName};
pub(crate) use kv::ID;
use model::{ContentId, Cursor, ListId, Position, TopicId, UserId};

/// Bytes of a row in a time-ordered table: partition, time, id.
const ROW: usize = 3 * ID;
/// Bytes of the longest key of fixed width, that of a notice.
const MOST: usize = 4 * ID + 2;

/// A part of the keys of a table, by which an audit names a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// An id.
    Id(&'static str),
    /// The place of an id in a list by time.
    Place(&'static str),
    /// The byte of a kind of reactions.
    Kind,
    /// The byte of a counter.
    Counter,
    /// The place of a notice.
    Notice,
    /// A text that has a row, and what it is.
    Text(&'static str),
    /// The name of something of a user.
    Name(&'static str),
    /// A lane, and the number of a job.
    Job,
    /// A sort, of content or of reactions, and the byte of a kind.
    SortedKind,
    /// A beginning of a nickname, which ends with a 0.
    Beginning,
}

impl Part {
    pub(crate) const USER: Self = Self::Id(UserId::WHAT);
    pub(crate) const ITEM: Self = Self::Id(ContentId::WHAT);
}

/// The part in words; `!` before what is stored inverted.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(what) => f.write_str(what),
            Self::Place(what) => write!(f, "!time, !{what}"),
            Self::Kind => f.write_str("kind"),
            Self::Counter => f.write_str("number of the counter"),
            Self::Notice => f.write_str("!time, !kind, !reaction, !actor, !item"),
            Self::Text(what) => write!(f, "the {what}, UTF-8"),
            Self::Name(what) => write!(f, "name of the {what}"),
            Self::Job => f.write_str("lane, 2 bytes; number"),
            Self::SortedKind => f.write_str("0 or 1, number of the kind"),
            Self::Beginning => f.write_str("a beginning, a 0"),
        }
    }
}

/// The item that a key names: the first one of the key, or else the last.
pub(crate) fn item(parts: &[Part], key: &[u8]) -> Option<u64> {
    match parts {
        [Part::ITEM, ..] => number(key),
        [.., Part::ITEM] => number(key.last_chunk::<ID>()?),
        [.., Part::Place(ContentId::WHAT)] => last_place(key).map(|Position { id, .. }| id),
        _ => None,
    }
}

/// The users that a key of ids and kinds names.
pub(crate) fn users<'k>(parts: &'k [Part], mut key: &'k [u8]) -> impl Iterator<Item = UserId> + 'k {
    let named = move |part: &Part| match *part {
        Part::USER => Some(UserId::next(&mut key)),
        Part::Id(_) => u64::next(&mut key).map(|_| None),
        Part::Kind => u8::next(&mut key).map(|_| None),
        _ => None,
    };
    parts.iter().map_while(named).flatten()
}

/// The bytes of a key of fixed width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyBytes {
    bytes: [u8; MOST],
    len: usize,
}

impl KeyBytes {
    /// The key with a further part.
    pub(crate) fn with(mut self, part: impl Parts) -> Self {
        part.put(&mut self);
        self
    }

    fn add<const N: usize>(&mut self, part: [u8; N]) {
        self.bytes[self.len..self.len + N].copy_from_slice(&part);
        self.len += N;
    }
}

impl Deref for KeyBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl AsRef<[u8]> for KeyBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl From<KeyBytes> for Vec<u8> {
    fn from(key: KeyBytes) -> Self {
        key.to_vec()
    }
}

/// The key of these parts.
pub(crate) fn of(parts: impl Parts) -> KeyBytes {
    KeyBytes { bytes: [0; MOST], len: 0 }.with(parts)
}

/// The parts of a key that has these and no others.
pub(crate) fn read<P: Parts>(mut key: &[u8]) -> Option<P> {
    P::take(&mut key).filter(|_| key.is_empty())
}

/// One or several parts of fixed width: the keys of a table, or a partition of it.
pub(crate) trait Parts: Copy {
    const PARTS: &'static [Part];

    /// Appends them to a key.
    fn put(self, key: &mut KeyBytes);

    /// Takes them from the beginning of a key.
    fn take(key: &mut &[u8]) -> Option<Self>;
}

impl<F: Field> Parts for F {
    const PARTS: &'static [Part] = &[F::PART];

    fn put(self, key: &mut KeyBytes) {
        self.append(key);
    }

    fn take(key: &mut &[u8]) -> Option<Self> {
        Self::next(key)
    }
}

macro_rules! parts {
    ($($part:ident),+) => {
        #[allow(non_snake_case, reason = "the names of the types")]
        impl<$($part: Field),+> Parts for ($($part),+) {
            const PARTS: &'static [Part] = &[$($part::PART),+];

            fn put(self, key: &mut KeyBytes) {
                let ($($part),+) = self;
                $($part.append(key);)+
            }

            fn take(key: &mut &[u8]) -> Option<Self> {
                Some(($($part::next(key)?),+))
            }
        }
    };
}

parts!(A, B);
parts!(A, B, C);

/// A part of fixed width.
pub(crate) trait Field: Copy {
    const PART: Part;

    /// Appends it to a key.
    fn append(self, key: &mut KeyBytes);

    /// Takes it from the beginning of a key.
    fn next(key: &mut &[u8]) -> Option<Self>;
}

/// The next bytes of a key.
fn chunk<const N: usize>(key: &mut &[u8]) -> Option<[u8; N]> {
    let (next, rest) = key.split_first_chunk()?;
    *key = rest;
    Some(*next)
}

/// An id in a key.
pub(crate) trait KeyId: Into<u64> + TryFrom<u64> + Copy + Ord {
    const WHAT: &'static str;
}

macro_rules! ids {
    ($($id:ty = $what:literal),+) => {
        $(impl KeyId for $id {
            const WHAT: &'static str = $what;
        })+
    };
}

ids!(UserId = "user", ContentId = "content", ListId = "list", TopicId = "topic", EventNumber = "event", u64 = "number");

/// The number of a row of the log of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EventNumber(pub(crate) u64);

impl From<u64> for EventNumber {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

impl From<EventNumber> for u64 {
    fn from(EventNumber(number): EventNumber) -> u64 {
        number
    }
}

impl<I: KeyId> Field for I {
    const PART: Part = Part::Id(I::WHAT);

    fn append(self, key: &mut KeyBytes) {
        key.add(self.into().to_be_bytes());
    }

    fn next(key: &mut &[u8]) -> Option<Self> {
        chunk(key).and_then(|id| u64::from_be_bytes(id).try_into().ok())
    }
}

/// The key of the row with the highest number of a list. No other key is so short.
pub(crate) const HIGHEST_LIST: &[u8] = &[];

/// The key of the row with the highest id of a topic. No name is empty.
pub(crate) const HIGHEST_TOPIC: &str = "";

/// The bytes of an id.
pub(crate) fn id(raw: u64) -> [u8; ID] {
    raw.to_be_bytes()
}

/// Eight big-endian bytes as a number.
pub(crate) fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*bytes.first_chunk()?))
}

/// The first possible key of a partition, of the row that holds a floor. Times are below 2^63, so every entry's key is
/// greater.
pub(crate) fn head(partition: u64) -> KeyBytes {
    of((partition, Position { at: u64::MAX, id: u64::MAX }))
}

/// A key behind all others of a partition that begin with a place, or with that of a notice.
pub(crate) fn tail(partition: u64) -> KeyBytes {
    of((partition, Position { at: 0, id: 0 }))
}

/// Whether a time-ordered key is the head of its partition.
pub(crate) fn is_head(key: &[u8]) -> bool {
    key.len() == ROW && key[ID..].iter().all(|byte| *byte == 0)
}

/// The user after the first id of a key.
pub(crate) fn second(key: &[u8]) -> Option<UserId> {
    read(key).map(|(_, second): (u64, UserId)| second)
}

/// The place at the end of a key.
pub(crate) fn last_place<I: KeyId>(key: &[u8]) -> Option<Position<I>> {
    read(key.last_chunk::<{ 2 * ID }>()?)
}

/// The place of an item in a list by time, with the partition.
pub(crate) fn place(key: &[u8]) -> Option<(u64, Cursor)> {
    read(key)
}

#[cfg(test)]
mod tests;
