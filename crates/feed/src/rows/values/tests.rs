//! The bytes of values, and damaged bytes.

use super::*;
use crate::rows::keys;
use model::{
    Activity, Content, ContentId, Entry, Job, JobId, KindId, Lane, ListId, ListSettings, Profile, Progress, Reach,
    Unpushed, UserSettings, Work,
};

fn bytes_of(value: &impl Value) -> Vec<u8> {
    value.bytes().expect("encodes")
}

/// A value whose key says nothing.
fn read<V: Value>(bytes: &[u8]) -> Result<V> {
    V::read(&[], bytes)
}

fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("in range")
}

fn place(at: u64, id: u64) -> Cursor {
    Cursor { at, id: ContentId::new(id).expect("in range") }
}

fn stored() -> Stored {
    Stored {
        content: Content {
            edited_at: Some(4),
            kind: "note".to_owned(),
            kind_id: KindId(9),
            text: Some("hi".to_owned()),
            topics: vec!["t".to_owned()],
            ref_id: Some(ContentId::MAX),
            to: vec![user(3), user(4)],
            audience: Audience::Followers,
            fingerprint: 255,
            ..Content::plain(ContentId::MIN, user(2), 3)
        },
        deleted_at: None,
    }
}

#[test]
fn golden_content() {
    let bytes = bytes_of(&stored());
    let mut expected = vec![1, 2, 3, 1, 4, 0, 4];
    expected.extend(b"note");
    expected.extend([1, 2]);
    expected.extend(b"hi");
    expected.extend([2]);
    expected.extend(b"[]");
    expected.extend([1, 1]);
    expected.extend(b"t");
    expected.extend([1, 253, 255, 255, 255, 255, 255, 255, 255, 255]);
    expected.extend([0, 1, 251, 255, 0, 0, 9, 2, 3, 4, 1]);
    assert_eq!(bytes, expected);
    assert_eq!(Stored::read(&keys::id(1), &bytes).expect("decodes"), stored());
    assert_eq!(read_deleted_at(&bytes), None);
    let mut mentioning = Stored { deleted_at: Some(5), ..stored() };
    mentioning.content.mentions = vec![user(7), user(8)];
    let with_mentions = bytes_of(&mentioning);
    let paths = expected.len() - 5;
    let rest = [&[1, 5][..], &expected[6..paths - 1], &[2, 7, 8], &expected[paths..]].concat();
    assert_eq!(with_mentions, [&[1, 2, 3, 1, 4][..], &rest].concat());
    assert_eq!(Stored::read(&keys::id(1), &with_mentions).expect("decodes"), mentioning);
    assert_eq!(read_deleted_at(&with_mentions), Some(5));
    for edited_at in [None, Some(Millis::MAX)] {
        let content_of = Content { edited_at, ..stored().content };
        let bytes = bytes_of(&Stored { content: content_of, deleted_at: Some(300) });
        assert_eq!((read_deleted_at(&bytes), read_deleted_at(&bytes[..4])), (Some(300), None));
    }
}

/// A plain entry, one of another kind, one of another author, and one with all of it.
fn entries() -> [Entry; 4] {
    let plain = Entry::plain(place(5, 6), user(7));
    let followers_only = Entry { kind: KindId(2), audience: Audience::Followers, ..plain };
    [plain, Entry { kind: KindId(1), ..plain }, plain.by(user(9)), followers_only.by(user(9))]
}

#[test]
fn golden_entries() {
    let author = |raw: u8| [0, 0, 0, 0, 0, 0, 0, raw];
    let values = [vec![], vec![1, 0], [&[0, 0][..], &author(9)].concat(), [&[2, 1][..], &author(9)].concat()];
    for (of, golden) in entries().iter().zip(values) {
        assert_eq!(entry(of), golden);
        assert_eq!(read_entry(of.cursor, of.source, &golden).expect("reads"), *of);
    }
    let values = [vec![], vec![1, 0], vec![], vec![2, 1]];
    for (of, golden) in entries().iter().zip(values) {
        let golden = [&author(of.author.get() as u8)[..], &golden].concat();
        assert_eq!(listed(of), golden);
        assert_eq!(read_listed(of.cursor, &golden).expect("reads"), of.on(of.author));
        assert!(
            read_listed(of.cursor, &golden[..7]).is_err()
                && read_listed(of.cursor, &[&golden[..], &[1]].concat()).is_err()
        );
    }
    for bad in [&[0][..], &[0, 2], &[0, 0, 1], &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]] {
        assert!(read_entry(place(5, 6), user(7), bad).is_err(), "{bad:?}");
    }
}

#[test]
fn golden_jobs() {
    let id = JobId { lane: Lane::new(1).expect("a lane"), seq: 9 };
    let fan_out = Work::FanOut { entry: entries()[3] };
    let progress = Some(Progress { reach: Reach::Active, done_to: Some(user(8)) });
    for (work, progress, golden) in [
        (fan_out, None, vec![1, 0, 7, 5, 6, 9, 2, 1, 0]),
        (fan_out, progress, vec![1, 0, 7, 5, 6, 9, 2, 1, 1, 1, 1, 8]),
        (Work::Settle { user: user(1), source: user(2) }, None, vec![1, 1, 1, 2]),
        (Work::Rebuild { user: user(3) }, None, vec![1, 2, 3]),
    ] {
        let job = Job { id, work, progress };
        assert_eq!(bytes_of(&job), golden);
        assert_eq!(Job::read(&keys::of(id), &golden).expect("decodes"), job);
    }
}

#[test]
fn golden_profile() {
    let stored = Profile { nickname: Some("é".to_owned()), avatar: None, extra: Some("{}".to_owned()) };
    let bytes = bytes_of(&stored);
    assert_eq!(bytes, [&[1, 1, 2], "é".as_bytes(), &[0, 1, 2], b"{}"].concat());
    assert_eq!(read::<Profile>(&bytes).expect("decodes"), stored);
}

#[test]
fn golden_lists() {
    let id = ListId::new(5).expect("in range");
    let settings = ListSettings { title: Some("é".to_owned()), exclusive: true };
    let list = (id, settings);
    let bytes = bytes_of(&list);
    assert_eq!(bytes, [&[1, 5, 1, 2], "é".as_bytes(), &[1]].concat());
    assert_eq!(read::<NumberedList>(&bytes).expect("decodes"), list);
    assert!(read::<NumberedList>(&[1]).is_err() && read::<NumberedList>(&[]).is_err());
}

#[test]
fn golden_fixed_rows() {
    assert_eq!(author(user(0xFF00)), [0, 0, 0, 0, 0, 0, 0xFF, 0]);
    assert_eq!(*cursor(place(1, 2)), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    let counts = item_counts(&ItemSteps { pointing: [1, -2], reactions: [(7, i64::MAX), (3, 0), (2, -1)].into() });
    assert_eq!(counts.len(), 34);
    assert_eq!((counts[0], counts[8], counts[9]), (1, 0xFE, 0xFF));
    assert_eq!((counts[16], counts[17], counts[25], counts[33]), (2, 0xFF, 7, 0x7F));
    assert_eq!(count(-2), [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    let state = |state, seen, job| [state, seen, job];
    assert_eq!(bytes_of(&Activity::Active { seen: 5 }), state(2, 5, 0));
    assert_eq!(bytes_of(&Activity::Dormant { seen: Some(5) }), state(0, 5, 0));
    assert_eq!(bytes_of(&Activity::Returning { seen: 5, empty: false, rebuild: 6 }), state(1, 5, 6));
    assert_eq!(bytes_of(&Activity::Returning { seen: 5, empty: true, rebuild: 6 }), state(4, 5, 6));
    assert_eq!(bytes_of(&Activity::Evicted), state(3, 0, 0));
    let only_active = bytes_of(&Unpushed { to_nobody: None, to_active: Some(place(1, 2)) });
    assert_eq!(only_active, [1, 0, 1, 1, 2]);
}

#[test]
fn a_damaged_length_asks_for_no_memory() {
    for length in [&[253, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF][..], &[252, 0xFF, 0xFF, 0xFF, 0x7F]] {
        for fields_before in [&[1, 1][..], &[1, 0, 1], &[1, 0, 0, 1]] {
            let bytes = [fields_before, length].concat();
            assert!(matches!(read::<Profile>(&bytes), Err(Error::Corrupt(_))), "{bytes:?}");
        }
        let bytes = [&[1, 2, 3, 0, 0][..], length].concat();
        assert!(matches!(Stored::read(&keys::id(1), &bytes), Err(Error::Corrupt(_))), "{bytes:?}");
    }
}

#[test]
fn golden_settings() {
    let private = UserSettings { approve_followers: true, default_audience: Audience::Followers };
    for (stored, golden) in [(UserSettings::default(), [1, 0, 0]), (private, [1, 1, 1])] {
        assert_eq!(bytes_of(&stored), golden);
        assert_eq!(read::<UserSettings>(&golden).expect("decodes"), stored);
    }
}
