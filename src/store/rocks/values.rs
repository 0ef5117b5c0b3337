//! The values of every table: the only code that knows their bytes.
//!
//! Hot rows have a fixed layout; the others are a version byte followed by bincode. bincode stays at 2.0.1 and inside
//! this file, so that only a new version byte is needed to replace it.

pub(super) mod events;

use bincode::{Decode, Encode};

use super::keys::number;
use crate::error::{Error, Result};
use crate::model::{
    Activity, Content, ContentId, Cursor, Entry, Job, JobId, Millis, Profile, Progress, Reach, TopicId, Unpushed,
    UserId, Work,
};

const CONTENT: u8 = 1;
const JOB: u8 = 1;
const PROFILE: u8 = 1;

fn corrupt(what: &str) -> Error {
    Error::Corrupt(what.to_owned())
}

fn encode<T: Encode>(version: u8, record: &T) -> Result<Vec<u8>> {
    let mut bytes = vec![version];
    bincode::encode_into_std_write(record, &mut bytes, bincode::config::standard())
        .map_err(|e| Error::Corrupt(format!("cannot encode: {e}")))?;
    Ok(bytes)
}

fn decode<T: Decode<()>>(what: &str, version: u8, bytes: &[u8]) -> Result<T> {
    match bytes.split_first() {
        Some((found, rest)) if *found == version => bincode::decode_from_slice(rest, bincode::config::standard())
            .map(|(record, _)| record)
            .map_err(|e| Error::Corrupt(format!("{what}: {e}"))),
        Some((found, _)) => Err(Error::Corrupt(format!("{what} of unknown version {found}"))),
        None => Err(Error::Corrupt(format!("{what} without bytes"))),
    }
}

/// Content as it is stored; also deleted content, until it is purged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) content: Content,
    pub(super) deleted_at: Option<Millis>,
}

#[derive(Encode, Decode)]
struct ContentV1 {
    author: u64,
    published_at: u64,
    edited_at: Option<u64>,
    deleted_at: Option<u64>,
    kind: String,
    text: Option<String>,
    media: String,
    topics: Vec<String>,
    ref_id: Option<u64>,
    extra: Option<String>,
    broadcast: bool,
    fingerprint: u64,
}

pub(super) fn content(stored: &Stored) -> Result<Vec<u8>> {
    let content = stored.content.clone();
    let record = ContentV1 {
        author: content.author.get(),
        published_at: content.published_at,
        edited_at: content.edited_at,
        deleted_at: stored.deleted_at,
        kind: content.kind,
        text: content.text,
        media: content.media,
        topics: content.topics,
        ref_id: content.ref_id.map(ContentId::get),
        extra: content.extra,
        broadcast: content.broadcast,
        fingerprint: content.fingerprint,
    };
    encode(CONTENT, &record)
}

pub(super) fn read_content(id: ContentId, bytes: &[u8]) -> Result<Stored> {
    let record: ContentV1 = decode("content", CONTENT, bytes)?;
    let ref_id = record.ref_id.map(ContentId::new).transpose().map_err(|_| corrupt("content: ref_id"))?;
    Ok(Stored {
        content: Content {
            id,
            author: UserId::new(record.author).map_err(|_| corrupt("content: author"))?,
            published_at: record.published_at,
            edited_at: record.edited_at,
            kind: record.kind,
            text: record.text,
            media: record.media,
            topics: record.topics,
            ref_id,
            extra: record.extra,
            broadcast: record.broadcast,
            fingerprint: record.fingerprint,
        },
        deleted_at: record.deleted_at,
    })
}

/// The time of an item's deletion, from the row's first fields; `None` also for a row that cannot be read.
pub(super) fn read_deleted_at(bytes: &[u8]) -> Option<Millis> {
    let (_author, _published_at, _edited_at, deleted_at): (u64, u64, Option<u64>, Option<u64>) =
        decode("content", CONTENT, bytes).ok()?;
    deleted_at
}

#[derive(Encode, Decode)]
enum WorkV1 {
    FanOut { author: u64, at: u64, id: u64, progress: Option<(u8, Option<u64>)> },
    Settle { user: u64, author: u64 },
    Rebuild { user: u64 },
}

fn reach_code(reach: Reach) -> u8 {
    match reach {
        Reach::All => 0,
        Reach::Active => 1,
        Reach::Nobody => 2,
    }
}

pub(super) fn job(work: &Work, progress: Option<Progress>) -> Result<Vec<u8>> {
    let record = match *work {
        Work::FanOut { entry } => WorkV1::FanOut {
            author: entry.author.get(),
            at: entry.cursor.at,
            id: entry.cursor.id.get(),
            progress: progress.map(|p| (reach_code(p.reach), p.done_to.map(UserId::get))),
        },
        Work::Settle { user, author } => WorkV1::Settle { user: user.get(), author: author.get() },
        Work::Rebuild { user } => WorkV1::Rebuild { user: user.get() },
    };
    encode(JOB, &record)
}

pub(super) fn read_job(id: JobId, bytes: &[u8]) -> Result<Job> {
    let user = |raw| UserId::new(raw).map_err(|_| corrupt("job: user"));
    let mut progress = None;
    let work = match decode("job", JOB, bytes)? {
        WorkV1::FanOut { author, at, id, progress: stored } => {
            if let Some((reach, done_to)) = stored {
                let reach = match reach {
                    0 => Reach::All,
                    1 => Reach::Active,
                    2 => Reach::Nobody,
                    _ => return Err(corrupt("job: reach")),
                };
                progress = Some(Progress { reach, done_to: done_to.map(user).transpose()? });
            }
            let id = ContentId::new(id).map_err(|_| corrupt("job: content"))?;
            Work::FanOut { entry: Entry { cursor: Cursor { at, id }, author: user(author)? } }
        }
        WorkV1::Settle { user: whose, author } => Work::Settle { user: user(whose)?, author: user(author)? },
        WorkV1::Rebuild { user: whose } => Work::Rebuild { user: user(whose)? },
    };
    Ok(Job { id, work, progress })
}

#[derive(Encode, Decode)]
struct ProfileV1 {
    nickname: Option<String>,
    avatar: Option<String>,
    extra: Option<String>,
}

pub(super) fn profile(profile: &Profile) -> Result<Vec<u8>> {
    let Profile { nickname, avatar, extra } = profile.clone();
    encode(PROFILE, &ProfileV1 { nickname, avatar, extra })
}

pub(super) fn read_profile(bytes: &[u8]) -> Result<Profile> {
    let ProfileV1 { nickname, avatar, extra } = decode("profile", PROFILE, bytes)?;
    Ok(Profile { nickname, avatar, extra })
}

/// The author in a row of an inbox or a topic, and of a user's list of reactions.
pub(super) fn author(author: UserId) -> [u8; 8] {
    author.get().to_be_bytes()
}

pub(super) fn read_author(bytes: &[u8]) -> Result<UserId> {
    let raw = number(bytes).filter(|_| bytes.len() == 8);
    raw.and_then(|raw| UserId::new(raw).ok()).ok_or_else(|| corrupt("author"))
}

/// A topic's id.
pub(super) fn topic(topic: TopicId) -> [u8; 8] {
    topic.get().to_be_bytes()
}

pub(super) fn read_topic(bytes: &[u8]) -> Result<TopicId> {
    let raw = number(bytes).filter(|_| bytes.len() == 8);
    raw.and_then(|raw| TopicId::new(raw).ok()).ok_or_else(|| corrupt("topic"))
}

/// A cursor in a value: time, then id.
pub(super) fn cursor(cursor: Cursor) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&cursor.at.to_be_bytes());
    bytes[8..].copy_from_slice(&cursor.id.get().to_be_bytes());
    bytes
}

/// Reads a cursor; also used where an error cannot be reported, hence no `Result`.
pub(super) fn read_cursor(bytes: &[u8]) -> Option<Cursor> {
    super::keys::cursor(number(bytes)?, number(bytes.get(8..16)?)?)
}

pub(super) fn read_marker(bytes: &[u8]) -> Result<Cursor> {
    read_cursor(bytes).filter(|_| bytes.len() == 16).ok_or_else(|| corrupt("marker"))
}

pub(super) fn millis(at: Millis) -> [u8; 8] {
    at.to_be_bytes()
}

pub(super) fn read_millis(bytes: &[u8]) -> Result<Millis> {
    number(bytes).ok_or_else(|| corrupt("time"))
}

/// One step of a counter, and its merged sum.
pub(super) fn count(step: i64) -> [u8; 8] {
    step.to_le_bytes()
}

pub(super) fn read_count(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.try_into().ok()?))
}

/// Steps of the counters of an item (likes, favorites, comments, reposts), and their merged sums.
pub(super) fn item_counts(steps: [i64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (part, step) in bytes.chunks_exact_mut(8).zip(steps) {
        part.copy_from_slice(&count(step));
    }
    bytes
}

pub(super) fn read_item_counts(bytes: &[u8]) -> Option<[i64; 4]> {
    let parts: &[u8; 32] = bytes.try_into().ok()?;
    let mut counts = [0; 4];
    for (count, part) in counts.iter_mut().zip(parts.chunks_exact(8)) {
        *count = read_count(part)?;
    }
    Some(counts)
}

/// An activity: a state, a time and the number of a job.
pub(super) fn activity(activity: Activity) -> [u8; 17] {
    let (state, seen, job) = match activity {
        Activity::Dormant { seen: Some(seen) } => (0, seen, 0),
        Activity::Dormant { seen: None } => (5, 0, 0),
        Activity::Returning { seen, empty, rebuild } => (if empty { 4 } else { 1 }, seen, rebuild),
        Activity::Active { seen } => (2, seen, 0),
        Activity::Evicted => (3, 0, 0),
    };
    let mut bytes = [state; 17];
    bytes[1..9].copy_from_slice(&seen.to_be_bytes());
    bytes[9..].copy_from_slice(&job.to_be_bytes());
    bytes
}

pub(super) fn read_activity(bytes: &[u8]) -> Result<Activity> {
    let at = |place: usize| bytes.get(place..).and_then(number).ok_or_else(|| corrupt("activity"));
    let (seen, rebuild) = (at(1)?, at(9)?);
    match bytes[0] {
        0 => Ok(Activity::Dormant { seen: Some(seen) }),
        1 => Ok(Activity::Returning { seen, empty: false, rebuild }),
        2 => Ok(Activity::Active { seen }),
        3 => Ok(Activity::Evicted),
        4 => Ok(Activity::Returning { seen, empty: true, rebuild }),
        5 => Ok(Activity::Dormant { seen: None }),
        _ => Err(corrupt("activity: state")),
    }
}

/// Two optional cursors, each with a byte that says whether it is there.
pub(super) fn unpushed(unpushed: Unpushed) -> [u8; 34] {
    let mut bytes = [0; 34];
    for (at, place) in [(0, unpushed.to_nobody), (17, unpushed.to_active)] {
        if let Some(place) = place {
            bytes[at] = 1;
            bytes[at + 1..at + 17].copy_from_slice(&cursor(place));
        }
    }
    bytes
}

pub(super) fn read_unpushed(bytes: &[u8]) -> Result<Unpushed> {
    if bytes.len() != 34 {
        return Err(corrupt("unpushed"));
    }
    let read = |at: usize| match bytes[at] {
        0 => Ok(None),
        _ => read_cursor(&bytes[at + 1..]).map(Some).ok_or_else(|| corrupt("unpushed: cursor")),
    };
    Ok(Unpushed { to_nobody: read(0)?, to_active: read(17)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Lane;

    fn user(raw: u64) -> UserId {
        UserId::new(raw).expect("in range")
    }

    fn place(at: u64, id: u64) -> Cursor {
        Cursor { at, id: ContentId::new(id).expect("in range") }
    }

    fn stored() -> Stored {
        Stored {
            content: Content {
                id: ContentId::MIN,
                author: user(2),
                published_at: 3,
                edited_at: Some(4),
                kind: "post".to_owned(),
                text: Some("hi".to_owned()),
                media: "[]".to_owned(),
                topics: vec!["t".to_owned()],
                ref_id: Some(ContentId::MAX),
                extra: None,
                broadcast: true,
                fingerprint: 255,
            },
            deleted_at: None,
        }
    }

    #[test]
    fn golden_content() {
        let bytes = content(&stored()).expect("encodes");
        let mut expected = vec![CONTENT, 2, 3, 1, 4, 0, 4];
        expected.extend(b"post");
        expected.extend([1, 2]);
        expected.extend(b"hi");
        expected.extend([2]);
        expected.extend(b"[]");
        expected.extend([1, 1]);
        expected.extend(b"t");
        expected.extend([1, 253, 255, 255, 255, 255, 255, 255, 255, 127]);
        expected.extend([0, 1, 251, 255, 0]);
        assert_eq!(bytes, expected);
        assert_eq!(read_content(ContentId::MIN, &bytes).expect("decodes"), stored());
        assert_eq!(read_deleted_at(&bytes), None);
        for edited_at in [None, Some(Millis::MAX)] {
            let content_of = Content { edited_at, ..stored().content };
            let bytes = content(&Stored { content: content_of, deleted_at: Some(300) }).expect("encodes");
            assert_eq!((read_deleted_at(&bytes), read_deleted_at(&bytes[..4])), (Some(300), None));
        }
    }

    #[test]
    fn golden_jobs() {
        let id = JobId { lane: Lane::new(1).expect("a lane"), seq: 9 };
        let fan_out = Work::FanOut { entry: Entry { cursor: place(5, 6), author: user(7) } };
        let progress = Some(Progress { reach: Reach::Active, done_to: Some(user(8)) });
        for (work, progress, golden) in [
            (fan_out, None, vec![JOB, 0, 7, 5, 6, 0]),
            (fan_out, progress, vec![JOB, 0, 7, 5, 6, 1, 1, 1, 8]),
            (Work::Settle { user: user(1), author: user(2) }, None, vec![JOB, 1, 1, 2]),
            (Work::Rebuild { user: user(3) }, None, vec![JOB, 2, 3]),
        ] {
            assert_eq!(job(&work, progress).expect("encodes"), golden);
            assert_eq!(read_job(id, &golden).expect("decodes"), Job { id, work, progress });
        }
    }

    #[test]
    fn golden_profile() {
        let stored = Profile { nickname: Some("é".to_owned()), avatar: None, extra: Some("{}".to_owned()) };
        let bytes = profile(&stored).expect("encodes");
        assert_eq!(bytes, [&[PROFILE, 1, 2], "é".as_bytes(), &[0, 1, 2], b"{}"].concat());
        assert_eq!(read_profile(&bytes).expect("decodes"), stored);
    }

    #[test]
    fn golden_fixed_rows() {
        assert_eq!(author(user(0xFF00)), [0, 0, 0, 0, 0, 0, 0xFF, 0]);
        assert_eq!(cursor(place(1, 2)), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        let counts = item_counts([1, -2, 0, i64::MAX]);
        assert_eq!((counts[0], counts[8], counts[9], counts[31]), (1, 0xFE, 0xFF, 0x7F));
        assert_eq!(count(-2), [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
        let state = |state, seen, job| [state, 0, 0, 0, 0, 0, 0, 0, seen, 0, 0, 0, 0, 0, 0, 0, job];
        assert_eq!(activity(Activity::Active { seen: 5 }), state(2, 5, 0));
        assert_eq!(activity(Activity::Dormant { seen: Some(5) }), state(0, 5, 0));
        assert_eq!(activity(Activity::Returning { seen: 5, empty: false, rebuild: 6 }), state(1, 5, 6));
        assert_eq!(activity(Activity::Returning { seen: 5, empty: true, rebuild: 6 }), state(4, 5, 6));
        assert_eq!(activity(Activity::Evicted), state(3, 0, 0));
        let only_active = unpushed(Unpushed { to_nobody: None, to_active: Some(place(1, 2)) });
        assert_eq!(only_active[..18], [[0; 17].as_slice(), &[1]].concat());
        assert_eq!(only_active[18..], cursor(place(1, 2)));
    }

    #[test]
    fn fixed_rows_round_trip() {
        assert_eq!(read_author(&author(UserId::MAX)).expect("reads"), UserId::MAX);
        assert_eq!(read_cursor(&cursor(Cursor::NEWEST)), Some(Cursor::NEWEST));
        assert_eq!(read_marker(&cursor(Cursor::OLDEST)).expect("reads"), Cursor::OLDEST);
        assert_eq!(read_count(&count(i64::MIN)), Some(i64::MIN));
        assert_eq!(read_item_counts(&item_counts([1, -2, 3, i64::MIN])), Some([1, -2, 3, i64::MIN]));
        for state in [
            Activity::default(),
            Activity::Dormant { seen: Some(1) },
            Activity::Evicted,
            Activity::Returning { seen: 0xFF, empty: false, rebuild: 1 },
            Activity::Returning { seen: 0xFF, empty: true, rebuild: u64::MAX },
            Activity::Active { seen: u64::MAX },
        ] {
            assert_eq!(read_activity(&activity(state)).expect("reads"), state);
        }
        for to_nobody in [None, Some(Cursor::OLDEST)] {
            for to_active in [None, Some(Cursor::NEWEST)] {
                let both = Unpushed { to_nobody, to_active };
                assert_eq!(read_unpushed(&unpushed(both)).expect("reads"), both);
            }
        }
    }

    #[test]
    fn other_bytes_are_corrupt_not_a_panic() {
        let id = JobId { lane: Lane::new(1).expect("a lane"), seq: 9 };
        for length in 0..40 {
            for fill in [0, 1, 2, 0x7F, 0xFF] {
                let bytes = vec![fill; length];
                let _ = (read_content(ContentId::MIN, &bytes), read_deleted_at(&bytes));
                let _ = (
                    read_author(&bytes),
                    read_cursor(&bytes),
                    read_count(&bytes),
                    read_item_counts(&bytes),
                    read_marker(&bytes),
                    read_millis(&bytes),
                );
                let _ = (read_job(id, &bytes), read_profile(&bytes));
                let _ = (read_activity(&bytes), read_unpushed(&bytes));
            }
        }
        assert!(matches!(read_content(ContentId::MIN, &[9, 0]), Err(Error::Corrupt(_))));
    }
}
