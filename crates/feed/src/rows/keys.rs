//! The keys of every table, big-endian, of fixed width except topics' names. `docs/schema.md` describes them, the
//! golden tests below prove them.
//!
//! Times and ids in ordered rows are stored inverted (`!x`), so that a forward scan gives the newest first.

use model::nickname::beginnings;
use model::{ContentId, Cursor, JobId, Lane, NoticeCursor, NoticeId, NoticeKind, Position, Profile, UserId};

/// Bytes of an id, and so of every partition prefix except the job table's.
pub(crate) const ID: usize = 8;
/// Bytes of a row in a time-ordered table: partition, time, id.
pub(crate) const ROW: usize = 3 * ID;

/// A partition of a table of ordered rows: an id, or an id and the byte of a kind. Only the former has a [`head`].
pub(crate) trait Partition: Copy + PartialEq {
    /// The key of a row: `partition | !at | !id`.
    fn row(self, at: u64, id: u64) -> impl AsRef<[u8]>;

    /// Splits the key of a row into partition, time and id.
    fn split(key: &[u8]) -> Option<(Self, u64, u64)>;
}

impl Partition for u64 {
    fn row(self, at: u64, id: u64) -> impl AsRef<[u8]> {
        row(self, at, id)
    }

    fn split(key: &[u8]) -> Option<(Self, u64, u64)> {
        split_row(key)
    }
}

impl Partition for (u64, u8) {
    fn row(self, at: u64, id: u64) -> impl AsRef<[u8]> {
        kind_row(self, at, id)
    }

    fn split(key: &[u8]) -> Option<(Self, u64, u64)> {
        let rest = key.get(ID + 1..).filter(|rest| rest.len() == 2 * ID)?;
        Some(((number(key)?, key[ID]), !number(rest)?, !number(&rest[ID..])?))
    }
}

/// The key of a table with one row an id.
pub(crate) fn id(raw: u64) -> [u8; ID] {
    raw.to_be_bytes()
}

/// The key of a row for two ids: a user, a list or an item, then a user; or a user, then a list.
pub(crate) fn pair(first: impl Into<u64>, second: impl Into<u64>) -> [u8; 2 * ID] {
    let mut key = [0; 2 * ID];
    key[..ID].copy_from_slice(&id(first.into()));
    key[ID..].copy_from_slice(&id(second.into()));
    key
}

/// The keys by which a user with this profile is found: of each beginning of the nickname, which has no control
/// characters, and of the user.
pub(crate) fn nicknames(profile: &Profile, user: UserId) -> impl Iterator<Item = Vec<u8>> {
    let beginnings = profile.nickname.as_deref().map(beginnings).unwrap_or_default();
    beginnings.into_iter().map(move |beginning| [beginning.as_bytes(), &[0], &id(user.get())].concat())
}

/// Splits such a key.
pub(crate) fn split_nickname(key: &[u8]) -> Option<(&str, UserId)> {
    let (beginning, user) = key.split_at_checked(key.len().checked_sub(ID + 1)?)?;
    let user = UserId::new(number(user.strip_prefix(&[0])?)?).ok()?;
    Some((std::str::from_utf8(beginning).ok()?, user))
}

/// The key of something that a user has named.
pub(crate) fn of_user(user: UserId, name: &str) -> Vec<u8> {
    [&id(user.get()), name.as_bytes()].concat()
}

/// The key of the row with the highest number of a list. No other key is so short.
pub(crate) const HIGHEST_LIST: &[u8] = &[];

/// The key of a time-ordered row: `partition | !at | !id`.
pub(crate) fn row(partition: u64, at: u64, id: u64) -> [u8; ROW] {
    let mut key = [0; ROW];
    key[..ID].copy_from_slice(&partition.to_be_bytes());
    key[ID..2 * ID].copy_from_slice(&(!at).to_be_bytes());
    key[2 * ID..].copy_from_slice(&(!id).to_be_bytes());
    key
}

/// The key of an entry in a list: of a user, an item, or a list of a user.
pub(crate) fn entry<I: Into<u64>>(owner: impl Into<u64>, place: Position<I>) -> [u8; ROW] {
    row(owner.into(), place.at, place.id.into())
}

/// The key of the row with the highest id of a topic. No name is empty.
pub(crate) const HIGHEST_TOPIC: &str = "";

/// The key of a time-ordered row of a kind: `id | kind | !at | !id`.
pub(crate) fn kind_row((first, kind): (u64, u8), at: u64, id: u64) -> [u8; ROW + 1] {
    let mut key = [kind; ROW + 1];
    key[..ID].copy_from_slice(&first.to_be_bytes());
    key[ID + 1..2 * ID + 1].copy_from_slice(&(!at).to_be_bytes());
    key[2 * ID + 1..].copy_from_slice(&(!id).to_be_bytes());
    key
}

/// The key of a reaction: `item | kind | user`.
pub(crate) fn reaction(id: ContentId, kind: u8, user: UserId) -> [u8; 2 * ID + 1] {
    let mut key = [kind; 2 * ID + 1];
    key[..ID].copy_from_slice(&id.get().to_be_bytes());
    key[ID + 1..].copy_from_slice(&user.get().to_be_bytes());
    key
}

/// Splits the key of a reaction into item, kind and user.
pub(crate) fn split_reaction(key: &[u8]) -> Option<(u64, u8, u64)> {
    (key.len() == 2 * ID + 1).then_some((number(key)?, key[ID], number(&key[ID + 1..])?))
}

/// Bytes of the key of a notice.
pub(super) const NOTICE: usize = 4 * ID + 2;

/// The key of a notice: `owner | !at | !kind | !reaction | !actor | !item`; an item of 0 is none.
pub(crate) fn notice(owner: UserId, place: NoticeCursor) -> [u8; NOTICE] {
    let NoticeId { kind, reaction, actor, item } = place.id;
    let mut key = [0; NOTICE];
    key[..ID].copy_from_slice(&owner.get().to_be_bytes());
    key[ID..2 * ID].copy_from_slice(&(!place.at).to_be_bytes());
    key[2 * ID..2 * ID + 2].copy_from_slice(&[!(kind as u8), !reaction]);
    key[2 * ID + 2..3 * ID + 2].copy_from_slice(&(!actor.get()).to_be_bytes());
    key[3 * ID + 2..].copy_from_slice(&(!item.map_or(0, ContentId::get)).to_be_bytes());
    key
}

/// The last possible key of the notices of a user.
pub(crate) fn last_notice(owner: UserId) -> [u8; NOTICE] {
    let mut key = [u8::MAX; NOTICE];
    key[..ID].copy_from_slice(&owner.get().to_be_bytes());
    key
}

/// Splits the key of a notice into its owner and its place.
pub(crate) fn split_notice(key: &[u8]) -> Option<(UserId, NoticeCursor)> {
    let (ids, rest) = key.split_at_checked(2 * ID).filter(|_| key.len() == NOTICE)?;
    let item = match !number(&rest[2 + ID..])? {
        0 => None,
        item => Some(ContentId::new(item).ok()?),
    };
    let actor = UserId::new(!number(&rest[2..])?).ok()?;
    let id = NoticeId { kind: NoticeKind::of(!rest[0])?, reaction: !rest[1], actor, item };
    Some((UserId::new(number(ids)?).ok()?, NoticeCursor { at: !number(&ids[ID..])?, id }))
}

/// The time of a notice by its key.
pub(crate) fn notice_time(key: &[u8]) -> Option<u64> {
    number(key.get(ID..)?).map(|at| !at)
}

/// The first possible key of a partition, of the row that holds a floor. Times are below 2^63, so every entry's key is
/// greater.
pub(crate) fn head(partition: u64) -> [u8; ROW] {
    row(partition, u64::MAX, u64::MAX)
}

/// The last possible key of a partition.
pub(crate) fn tail(partition: u64) -> [u8; ROW] {
    row(partition, 0, 0)
}

/// Splits the key of a time-ordered row into partition, time and id.
pub(crate) fn split_row(key: &[u8]) -> Option<(u64, u64, u64)> {
    if key.len() != ROW {
        return None;
    }
    Some((number(&key[..ID])?, !number(&key[ID..2 * ID])?, !number(&key[2 * ID..])?))
}

/// The id at the end of the key of a time-ordered row of any kind of partition.
pub(crate) fn last_id(key: &[u8]) -> Option<u64> {
    number(key.last_chunk::<ID>()?).map(|id| !id)
}

/// Whether a time-ordered key is the head of its partition.
pub(crate) fn is_head(key: &[u8]) -> bool {
    key.len() == ROW && key[ID..].iter().all(|byte| *byte == 0)
}

/// The id of a key that is one id.
pub(crate) fn split_id(key: &[u8]) -> Option<u64> {
    number(key).filter(|_| key.len() == ID)
}

/// The ids of a key that is two ids.
pub(crate) fn split_pair(key: &[u8]) -> Option<(u64, u64)> {
    (key.len() == 2 * ID).then_some((number(key)?, number(&key[ID..])?))
}

/// The second id of a pair key.
pub(crate) fn second(key: &[u8]) -> Option<UserId> {
    UserId::new(number(key.get(ID..2 * ID)?)?).ok()
}

/// The key of a job: `lane | seq`.
pub(crate) fn job(id: JobId) -> [u8; 10] {
    let mut key = [0; 10];
    key[..2].copy_from_slice(&id.lane.number().to_be_bytes());
    key[2..].copy_from_slice(&id.seq.to_be_bytes());
    key
}

/// Reads a job's key back.
pub(crate) fn split_job(key: &[u8]) -> Option<JobId> {
    let lane = Lane::new(u16::from_be_bytes(key.get(..2)?.try_into().ok()?))?;
    (key.len() == 10).then_some(JobId { lane, seq: number(&key[2..])? })
}

/// The counters of a user; the last byte of a counter's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    Following = 1,
    Followers = 2,
    Friends = 3,
    Content = 4,
}

impl Counter {
    /// Every counter.
    pub(crate) const ALL: [Self; 4] = [Self::Following, Self::Followers, Self::Friends, Self::Content];

    /// The name of the counter with a byte.
    pub(crate) fn name(byte: u8) -> Option<&'static str> {
        let names = ["following", "followers", "friends", "content"];
        Self::ALL.into_iter().zip(names).find(|(counter, _)| *counter as u8 == byte).map(|(_, name)| name)
    }
}

/// The key of a counter: `user | what`.
pub(crate) fn count(user: impl Into<u64>, what: Counter) -> [u8; ID + 1] {
    let mut key = [0; ID + 1];
    key[..ID].copy_from_slice(&id(user.into()));
    key[ID] = what as u8;
    key
}

/// Eight big-endian bytes as a number.
pub(crate) fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.get(..ID)?.try_into().ok()?))
}

/// The cursor of a time and an id; `None` if the id is invalid.
pub(crate) fn cursor(at: u64, id: u64) -> Option<Cursor> {
    Some(Cursor { at, id: ContentId::new(id).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn place(at: u64, id: u64) -> Cursor {
        cursor(at, id).expect("in range")
    }

    #[test]
    fn golden_bytes() {
        assert_eq!(id(0x0102), [0, 0, 0, 0, 0, 0, 1, 2]);
        assert_eq!(pair(user(1), user(0xFF)), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xFF]);
        assert_eq!(
            entry(user(7), place(1, 2)),
            [
                0, 0, 0, 0, 0, 0, 0, 7, //
                0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE, //
                0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFD
            ]
        );
        assert_eq!(entry(user(u64::MAX >> 1), place(u64::MAX >> 1, u64::MAX >> 1)), {
            let mut key = [0; ROW];
            key[0] = 0x7F;
            key[1..8].fill(0xFF);
            key[8] = 0x80;
            key[16] = 0x80;
            key
        });
        assert_eq!(entry(user(1 << 63 | 1), Cursor::NEWEST), {
            let mut key = [0; ROW];
            key[0] = 0x80;
            key[7] = 1;
            key[8] = 0x80;
            key
        });
        let lane = Lane::new(0x0203).expect("a lane");
        assert_eq!(job(JobId { lane, seq: 0xFF00 }), [2, 3, 0, 0, 0, 0, 0, 0, 0xFF, 0]);
        assert_eq!(reaction(place(1, 2).id, 7, user(3)), [0, 0, 0, 0, 0, 0, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(kind_row((2, 7), 8, 9), {
            let (mut key, row) = ([7; ROW + 1], row(2, 8, 9));
            key[..8].copy_from_slice(&row[..8]);
            key[9..].copy_from_slice(&row[8..]);
            key
        });
        assert_eq!(of_user(user(1), "é"), [0, 0, 0, 0, 0, 0, 0, 1, 0xC3, 0xA9]);
        assert_eq!(pair(place(1, 2).id, user(3)), [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(entry(place(1, 2).id, Position { at: 8, id: user(9) }), row(2, 8, 9));
        assert_eq!(count(user(1), Counter::Following), [0, 0, 0, 0, 0, 0, 0, 1, 1]);
        assert_eq!(count(user(1), Counter::Followers), [0, 0, 0, 0, 0, 0, 0, 1, 2]);
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
        let keys: Vec<_> = places.iter().map(|place| notice(user(7), *place)).collect();
        assert!(keys.is_sorted());
        assert!(keys.iter().all(|key| key[..] > id(7)[..] && *key < last_notice(user(7))));
        let back: Vec<_> = keys.iter().filter_map(|key| split_notice(key)).collect();
        assert_eq!(back, places.iter().map(|place| (user(7), *place)).collect::<Vec<_>>());
        assert_eq!((notice_time(&keys[0]), split_notice(&keys[0][..33])), (Some(0x100), None));
        let golden = notice(user(1), NoticeCursor::begin_of(2));
        assert_eq!(golden[..18], [0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 253, 254, 255]);
        assert_eq!(golden[18..], [255, 255, 255, 255, 255, 255, 255, 254, 255, 255, 255, 255, 255, 255, 255, 255]);
    }

    #[test]
    fn newest_sorts_first_after_the_head_and_within_the_partition() {
        let bytes = [0, 1, 0xFE, 0xFF, 0x100, 0xFF00, 0xFFFF, 0x10000, u64::MAX >> 1];
        let mut places = Vec::new();
        for at in bytes {
            places.extend(bytes.iter().chain(&[(1 << 63) + 1, u64::MAX]).filter_map(|id| cursor(at, *id)));
        }
        places.sort_unstable_by(|a, b| b.cmp(a));
        let author = user(0xFF);
        let keys: Vec<_> = places.iter().map(|place| entry(author, *place)).collect();
        assert!(keys.is_sorted());
        assert!(keys.iter().all(|key| head(0xFF) < *key && *key < tail(0xFF)));
        assert!(tail(0xFE) < head(0xFF));
        assert!(is_head(&head(0xFF)) && !is_head(&keys[0]));
    }
}
