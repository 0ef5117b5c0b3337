//! The types of keys: a table declares one, and takes the keys of it.

use std::marker::PhantomData;

use super::keys::{
    Counter, ID, NOTICE, Partition, ROW, count, entry, id, job, last_id, notice, number, of_user, pair, reaction,
    split_pair,
};
use kv::Access;
use model::{ContentId, JobId, ListId, NoticeCursor, Position, TopicId, UserId};

/// The kind and owner of a table's keys, by which an audit names a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// An id.
    One(&'static str),
    /// Two ids.
    Pair(&'static str, &'static str),
    /// A user and a text: the name of something of the user.
    OfUser(&'static str),
    /// A user and a counter.
    Counter,
    /// A text that has a number, and its kind.
    Text(&'static str),
    /// An item, a kind and a user.
    Reaction,
    /// A partition, and a place of an id in it.
    Row(&'static str, &'static str),
    /// A partition of an id and a kind, and a place of an id in it.
    KindRow(&'static str, &'static str),
    /// A lane, and the number of a job.
    Job,
    /// A sort, of content or of reactions, and the byte of a kind.
    Kind,
    /// A user and the place of a notice.
    Notice,
    /// A beginning of a nickname, and its user.
    Nickname,
}

impl Keys {
    /// The owner that is the first part of the keys; empty for none.
    pub(crate) fn first(self) -> &'static str {
        match self {
            Self::One(what) | Self::Pair(what, _) | Self::Row(what, _) | Self::KindRow(what, _) => what,
            Self::OfUser(_) | Self::Counter | Self::Notice => "user",
            Self::Reaction => "content",
            Self::Text(_) | Self::Job | Self::Kind | Self::Nickname => "",
        }
    }

    /// The item that a key names: the first one of the key, or else the last.
    pub(crate) fn item(self, key: &[u8]) -> Option<u64> {
        match self {
            _ if self.first() == "content" => number(key),
            Self::Pair(_, "content") => split_pair(key).map(|(_, item)| item),
            Self::Row(_, "content") | Self::KindRow(_, "content") => last_id(key),
            _ => None,
        }
    }
}

/// The keys of a table, and how it is read by them.
pub(crate) trait KeyType {
    /// Their form, by which an audit names a row.
    const FORM: Keys;
    /// The usual way to read rows with such keys.
    const ACCESS: Access = Access::Point;
}

/// A key of a table of [`KeyType`] `K`.
pub(crate) trait Key<K> {
    type Bytes: AsRef<[u8]>;

    fn bytes(&self) -> Self::Bytes;
}

impl<K, T: Key<K>> Key<K> for &T {
    type Bytes = T::Bytes;

    fn bytes(&self) -> Self::Bytes {
        (*self).bytes()
    }
}

/// An id that is a key, or a part of one.
pub(crate) trait Part: Into<u64> + Copy {
    const WHAT: &'static str;
}

macro_rules! parts {
    ($($id:ty = $what:literal),+) => {
        $(
            impl Part for $id {
                const WHAT: &'static str = $what;
            }

            impl KeyType for $id {
                const FORM: Keys = Keys::One($what);
            }

            impl Key<$id> for $id {
                type Bytes = [u8; ID];

                fn bytes(&self) -> Self::Bytes {
                    id((*self).into())
                }
            }
        )+
    };
}

parts!(
    UserId = "user",
    ContentId = "content",
    ListId = "list",
    TopicId = "topic",
    NameNumber = "number",
    EventNumber = "event"
);

/// Above the numbers of the application: stands for a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameNumber(pub(crate) u64);

/// The number of a row of the log of events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventNumber(pub(crate) u64);

impl From<NameNumber> for u64 {
    fn from(NameNumber(number): NameNumber) -> u64 {
        number
    }
}

impl From<EventNumber> for u64 {
    fn from(EventNumber(number): EventNumber) -> u64 {
        number
    }
}

impl<A: Part, B: Part> KeyType for (A, B) {
    const FORM: Keys = Keys::Pair(A::WHAT, B::WHAT);
    const ACCESS: Access = Access::PointAndScan;
}

impl<A: Part, B: Part> Key<(A, B)> for (A, B) {
    type Bytes = [u8; 2 * ID];

    fn bytes(&self) -> Self::Bytes {
        pair(self.0, self.1)
    }
}

/// Keys that are places in partitions, newest first.
pub(crate) trait Ordered {
    /// The owner of a partition.
    type Owner;
    /// As it stands in keys.
    type Partition: Partition;
    type Id: Copy + Ord + TryFrom<u64> + Into<u64>;

    fn partition(owner: Self::Owner) -> Self::Partition;
}

/// Places in partitions of an id.
pub(crate) struct ByTime<P, I>(PhantomData<(P, I)>);

impl<P: Part, I: Part> KeyType for ByTime<P, I> {
    const FORM: Keys = Keys::Row(P::WHAT, I::WHAT);
    const ACCESS: Access = Access::Scan;
}

impl<P: Part, I: Part + Ord + TryFrom<u64>> Ordered for ByTime<P, I> {
    type Owner = P;
    type Partition = u64;
    type Id = I;

    fn partition(owner: P) -> u64 {
        owner.into()
    }
}

impl<P: Part, I: Part> Key<ByTime<P, I>> for (P, Position<I>) {
    type Bytes = [u8; ROW];

    fn bytes(&self) -> Self::Bytes {
        entry(self.0, self.1)
    }
}

/// Places in partitions of an id and a kind of reactions.
pub(crate) struct OfKindByTime<P, I>(PhantomData<(P, I)>);

impl<P: Part, I: Part> KeyType for OfKindByTime<P, I> {
    const FORM: Keys = Keys::KindRow(P::WHAT, I::WHAT);
    const ACCESS: Access = Access::Scan;
}

impl<P: Part, I: Part + Ord + TryFrom<u64>> Ordered for OfKindByTime<P, I> {
    type Owner = (P, u8);
    type Partition = (u64, u8);
    type Id = I;

    fn partition((id, kind): (P, u8)) -> (u64, u8) {
        (id.into(), kind)
    }
}

macro_rules! texts {
    ($($(#[$doc:meta])* $text:ident = $what:literal),+) => {
        $(
            $(#[$doc])*
            pub(crate) struct $text;

            impl KeyType for $text {
                const FORM: Keys = Keys::Text($what);
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
    const FORM: Keys = Keys::OfUser("list");
    const ACCESS: Access = Access::PointAndScan;
}

impl Key<ListName> for (UserId, &str) {
    type Bytes = Vec<u8>;

    fn bytes(&self) -> Self::Bytes {
        of_user(self.0, self.1)
    }
}

impl KeyType for (UserId, Counter) {
    const FORM: Keys = Keys::Counter;
}

impl Key<(UserId, Counter)> for (UserId, Counter) {
    type Bytes = [u8; ID + 1];

    fn bytes(&self) -> Self::Bytes {
        count(self.0, self.1)
    }
}

impl KeyType for (ContentId, u8, UserId) {
    const FORM: Keys = Keys::Reaction;
}

impl Key<(ContentId, u8, UserId)> for (ContentId, u8, UserId) {
    type Bytes = [u8; 2 * ID + 1];

    fn bytes(&self) -> Self::Bytes {
        reaction(self.0, self.1, self.2)
    }
}

/// A sort, of content or of reactions, and the number of a kind.
impl KeyType for [u8; 2] {
    const FORM: Keys = Keys::Kind;
}

impl Key<[u8; 2]> for [u8; 2] {
    type Bytes = Self;

    fn bytes(&self) -> Self::Bytes {
        *self
    }
}

impl KeyType for (UserId, NoticeCursor) {
    const FORM: Keys = Keys::Notice;
    const ACCESS: Access = Access::Scan;
}

impl Key<(UserId, NoticeCursor)> for (UserId, NoticeCursor) {
    type Bytes = [u8; NOTICE];

    fn bytes(&self) -> Self::Bytes {
        notice(self.0, self.1)
    }
}

/// A beginning of a nickname, with its user.
pub(crate) struct Beginning;

impl KeyType for Beginning {
    const FORM: Keys = Keys::Nickname;
}

impl KeyType for JobId {
    const FORM: Keys = Keys::Job;
    const ACCESS: Access = Access::Queue;
}

impl Key<JobId> for JobId {
    type Bytes = [u8; 10];

    fn bytes(&self) -> Self::Bytes {
        job(*self)
    }
}
