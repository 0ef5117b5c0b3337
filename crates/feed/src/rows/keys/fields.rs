//! Parts of keys that are more than an id: places, kinds, counters, notices, jobs.

use super::{Field, KeyBytes, KeyId, Part, Parts, chunk};
use model::{ContentId, JobId, Lane, NoticeCursor, NoticeId, NoticeKind, Position, UserId};

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
