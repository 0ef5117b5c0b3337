//! Values: any bytes are read without a panic, and a value that is read is written and read again unchanged.

use std::fmt::Debug;

use super::values::deletions::Deletion;
use super::values::{ItemSteps, Listed, Number, NumberedList, Stored, Text, Value};
use super::{keys, values};
use model::{
    Activity, Cursor, Entry, ErasedUser, Erasure, Job, JobId, Lane, Logged, Membership, Millis, Notice, NoticeCursor, NoticeId,
    Profile, Unpushed, UserId, UserSettings,
};

/// Any bytes, as each of the values.
pub fn values(bytes: &[u8]) {
    let (user, row) = (keys::id(1), keys::row(1, 2, 3));
    let notice = keys::notice(UserId::MIN, NoticeCursor { at: 1, id: NoticeId::MAX });
    same::<Stored>(&user, bytes);
    same::<Deletion>(&user, bytes);
    same::<Entry>(&row, bytes);
    same::<Listed>(&row, bytes);
    same::<Job>(&keys::job(JobId { lane: Lane::of(UserId::MIN), seq: 1 }), bytes);
    same::<Profile>(&user, bytes);
    same::<UserSettings>(&user, bytes);
    same::<NumberedList>(&user, bytes);
    same::<Membership>(&user, bytes);
    same::<Activity>(&user, bytes);
    same::<Unpushed>(&user, bytes);
    same::<Logged>(&user, bytes);
    same::<Cursor>(&user, bytes);
    same::<Millis>(&user, bytes);
    same::<Number>(&user, bytes);
    same::<Text>(&user, bytes);
    same::<ItemSteps>(&user, bytes);
    same::<Erasure>(&user, bytes);
    same::<ErasedUser>(b"0a", bytes);
    same::<Notice>(&notice, bytes);
    same::<NoticeCursor>(&user, bytes);
    _ = values::read_deleted_at(bytes);
}

fn same<V: Value + Debug + PartialEq>(key: &[u8], bytes: &[u8]) {
    let Ok(value) = V::read(key, bytes) else { return };
    let written = value.bytes().expect("a value that was read can be written");
    assert_eq!(V::read(key, &written).expect("reads"), value);
}
