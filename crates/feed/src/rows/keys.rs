//! The keys of every table: parts in their order, big-endian. A table declares the type of its keys, and takes the keys of it.
//! `docs/schema.md` describes them, the golden tests below prove them.
//!
//! Times and ids of places in lists are stored inverted (`!x`), so that a forward scan gives the newest first.

use std::fmt;
use std::ops::Deref;

use model::nickname::beginnings;
use model::{
    ContentId, Cursor, JobId, Lane, ListId, NoticeCursor, NoticeId, NoticeKind, Position, Profile, TopicId, UserId,
};

/// Bytes of an id, and so of every partition prefix except the job table's.
pub(crate) const ID: usize = 8;
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
        [.., Part::Place(ContentId::WHAT)] => read(key.last_chunk::<{ 2 * ID }>()?).map(|Position { id, .. }| id),
        _ => None,
    }
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

macro_rules! parts {
    ($($part:ident),+) => {
        #[allow(non_snake_case, unused_parens, reason = "the names of the types; one is no tuple")]
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

parts!(A);
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

impl<I: KeyId> Field for Position<I> {
    const PART: Part = Part::Place(I::WHAT);

    fn append(self, key: &mut KeyBytes) {
        (!self.at).append(key);
        (!self.id.into()).append(key);
    }

    fn next(key: &mut &[u8]) -> Option<Self> {
        let (at, id) = <(u64, u64)>::take(key)?;
        Some(Self { at: !at, id: (!id).try_into().ok()? })
    }
}

impl Field for u8 {
    const PART: Part = Part::Kind;

    fn append(self, key: &mut KeyBytes) {
        key.add([self]);
    }

    fn next(key: &mut &[u8]) -> Option<Self> {
        chunk(key).map(|[byte]| byte)
    }
}

/// The counters of a user; the last byte of a counter's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counter {
    Following = 1,
    Followers = 2,
    Friends = 3,
    Content = 4,
}

impl Counter {
    /// Every counter.
    pub(crate) const ALL: [Self; 4] = [Self::Following, Self::Followers, Self::Friends, Self::Content];

    /// The name of the counter.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Following => "following",
            Self::Followers => "followers",
            Self::Friends => "friends",
            Self::Content => "content",
        }
    }
}

impl Field for Counter {
    const PART: Part = Part::Counter;

    fn append(self, key: &mut KeyBytes) {
        key.add([self as u8]);
    }

    fn next(key: &mut &[u8]) -> Option<Self> {
        let [byte] = chunk(key)?;
        Self::ALL.into_iter().find(|counter| *counter as u8 == byte)
    }
}

/// An item of 0 is none.
impl Field for NoticeCursor {
    const PART: Part = Part::Notice;

    fn append(self, key: &mut KeyBytes) {
        let NoticeId { kind, reaction, actor, item } = self.id;
        (!self.at).append(key);
        key.add([!(kind as u8), !reaction]);
        (!actor.get()).append(key);
        (!item.map_or(0, ContentId::get)).append(key);
    }

    fn next(key: &mut &[u8]) -> Option<Self> {
        let (at, kind, reaction) = <(u64, u8, u8)>::take(key)?;
        let (actor, item) = <(u64, u64)>::take(key)?;
        let item = match !item {
            0 => None,
            item => Some(ContentId::new(item).ok()?),
        };
        let id = NoticeId { kind: NoticeKind::of(!kind)?, reaction: !reaction, actor: UserId::new(!actor).ok()?, item };
        Some(Self { at: !at, id })
    }
}

impl Field for JobId {
    const PART: Part = Part::Job;

    fn append(self, key: &mut KeyBytes) {
        key.add(self.lane.number().to_be_bytes());
        self.seq.append(key);
    }

    fn next(key: &mut &[u8]) -> Option<Self> {
        let lane = Lane::new(u16::from_be_bytes(chunk(key)?))?;
        Some(Self { lane, seq: u64::next(key)? })
    }
}

/// A sort, of content or of reactions, and the number of a kind.
impl Field for [u8; 2] {
    const PART: Part = Part::SortedKind;

    fn append(self, key: &mut KeyBytes) {
        key.add(self);
    }

    fn next(key: &mut &[u8]) -> Option<Self> {
        chunk(key)
    }
}

/// The keys of a table.
pub(crate) trait KeyType {
    const PARTS: &'static [Part];
}

impl<P: Parts> KeyType for P {
    const PARTS: &'static [Part] = P::PARTS;
}

/// A key of a table with keys of `K`.
pub(crate) trait Key<K> {
    type Bytes: AsRef<[u8]>;

    fn bytes(&self) -> Self::Bytes;
}

impl<P: Parts> Key<P> for P {
    type Bytes = KeyBytes;

    fn bytes(&self) -> KeyBytes {
        of(*self)
    }
}

impl<P: Parts> Key<P> for &P {
    type Bytes = KeyBytes;

    fn bytes(&self) -> KeyBytes {
        of(**self)
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $text:ident = $what:literal),+) => {
        $(
            $(#[$doc])*
            pub(crate) struct $text;

            impl KeyType for $text {
                const PARTS: &'static [Part] = &[Part::Text($what)];
            }

            impl<'t> Key<$text> for &'t str {
                type Bytes = &'t [u8];

                fn bytes(&self) -> Self::Bytes {
                    self.as_bytes()
                }
            }
        )+
    };
}

texts!(TopicName = "topic", Name = "name", Note = "name of a note", ErasureHash = "hash of the id");

/// The name of a list, with its user.
pub(crate) struct ListName;

impl KeyType for ListName {
    const PARTS: &'static [Part] = &[Part::USER, Part::Name("list")];
}

impl Key<ListName> for (UserId, &str) {
    type Bytes = Vec<u8>;

    fn bytes(&self) -> Self::Bytes {
        [&id(self.0.get()), self.1.as_bytes()].concat()
    }
}

/// A beginning of a nickname, with its user.
pub(crate) struct Nickname;

impl KeyType for Nickname {
    const PARTS: &'static [Part] = &[Part::Beginning, Part::USER];
}

impl Nickname {
    /// The keys by which a user with this profile is found: of each beginning of the nickname, which has no control
    /// characters, and of the user.
    pub(crate) fn keys(profile: &Profile, user: UserId) -> impl Iterator<Item = Vec<u8>> {
        let beginnings = profile.nickname.as_deref().map(beginnings).unwrap_or_default();
        beginnings.into_iter().map(move |beginning| [beginning.as_bytes(), &[0], &id(user.get())].concat())
    }

    /// Reads such a key.
    pub(crate) fn read(key: &[u8]) -> Option<(&str, UserId)> {
        let (beginning, user) = key.split_last_chunk::<ID>()?;
        Some((std::str::from_utf8(beginning.strip_suffix(&[0])?).ok()?, read(user)?))
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

/// The place of an item in a list by time, with the partition.
pub(crate) fn place(key: &[u8]) -> Option<(u64, Cursor)> {
    read(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn place(at: u64, id: u64) -> Cursor {
        Cursor { at, id: ContentId::new(id).expect("in range") }
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(*of(user(0x0102)), [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(*of((user(1), user(0xFF))), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xFF]);
        assert_eq!(
            *of((user(7), place(1, 2))),
            [
                0, 0, 0, 0, 0, 0, 0, 7, //
                0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, //
                0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFD
            ]
        );
        assert_eq!(*of((user(u64::MAX >> 1), place(u64::MAX >> 1, u64::MAX >> 1))), {
            let mut key = [0; ROW];
            key[0] = 0x7F;
            key[1..8].fill(0xFF);
            key[8] = 0x80;
            key[16] = 0x80;
            key
        });
        assert_eq!(*of((user(1 << 63 | 1), Cursor::NEWEST)), {
            let mut key = [0; ROW];
            key[0] = 0x80;
            key[7] = 1;
            key[8] = 0x80;
            key
        });
        let lane = Lane::new(0x0203).expect("a lane");
        assert_eq!(*of(JobId { lane, seq: 0xFF00 }), [2, 3, 0, 0, 0, 0, 0, 0, 0xFF, 0]);
        assert_eq!(*of((place(1, 2).id, 7_u8, user(3))), [0, 0, 0, 0, 0, 0, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0, 3]);
        let at = Position { at: 8, id: user(9) };
        let row = of((2_u64, at));
        assert_eq!(*of((2_u64, 7_u8, at)), {
            let mut key = [7_u8; ROW + 1];
            key[..8].copy_from_slice(&row[..8]);
            key[9..].copy_from_slice(&row[8..]);
            key
        });
        assert_eq!((user(1), "é").bytes(), [0, 0, 0, 0, 0, 0, 0, 1, 0xC3, 0xA9]);
        assert_eq!(*of((place(1, 2).id, user(3))), [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(*of((place(1, 2).id, at)), *row);
        assert_eq!(*of((user(1), Counter::Following)), [0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(*of((user(1), Counter::Followers)), [0, 0, 0, 0, 0, 0, 0, 1, 2]);
    }

    #[test]
    fn newer_notices_come_first_and_round_trip() {
        let mut places = Vec::new();
        for (at, kind, reaction) in [(5, 1, 0), (5, 4, 0), (5, 4, 1), (0x100, 7, 0)] {
            for (actor, item) in [(1, None), (1, ContentId::new(1).ok()), (0x100, None), (1 << 63 | 1, None)] {
                let kind = NoticeKind::of(kind).expect("a kind");
                places.push(NoticeCursor { at, id: NoticeId { kind, reaction, actor: user(actor), item } });
            }
        }
        places.sort_unstable_by(|a, b| b.cmp(a));
        let keys: Vec<_> = places.iter().map(|place| of((user(7), *place)).to_vec()).collect();
        assert!(keys.is_sorted());
        assert!(keys.iter().all(|key| key[..] > id(7)[..] && key[..] < *tail(7)));
        let back: Vec<(UserId, NoticeCursor)> = keys.iter().filter_map(|key| read(key)).collect();
        assert_eq!(back, places.iter().map(|place| (user(7), *place)).collect::<Vec<_>>());
        assert_eq!(read::<(UserId, NoticeCursor)>(&keys[0][..33]), None);
        let golden = of((user(1), NoticeCursor::begin_of(2)));
        assert_eq!(golden[..18], [0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 253, 254, 255]);
        assert_eq!(golden[18..], [255, 255, 255, 255, 255, 255, 255, 254, 255, 255, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    fn newest_sorts_first_after_the_head_and_within_the_partition() {
        let bytes = [0, 1, 0xFE, 0xFF, 0x100, 0xFF00, 0xFFFF, 0x10000, u64::MAX >> 1];
        let mut places = Vec::new();
        for at in bytes {
            places.extend(bytes.iter().skip(1).chain(&[(1 << 63) + 1, u64::MAX]).map(|id| place(at, *id)));
        }
        places.sort_unstable_by(|a, b| b.cmp(a));
        let author = user(0xFF);
        let keys: Vec<_> = places.iter().map(|place| of((author, *place)).to_vec()).collect();
        assert!(keys.is_sorted());
        assert!(keys.iter().all(|key| *head(0xFF) < key[..] && key[..] < *tail(0xFF)));
        assert!(*tail(0xFE) < *head(0xFF));
        assert!(is_head(&head(0xFF)) && !is_head(&keys[0]));
    }
}
