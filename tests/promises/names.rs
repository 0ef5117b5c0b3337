//! The few users, ids and times that the sequences use, with both extremes.

use tideline::model::{ContentId, Cursor, MAX_ID, MAX_MILLIS, Millis, Position, UserCursor, UserId};

/// All users. The authors come first.
pub(crate) const USERS: [u64; 8] = [1, 2, 3, 4, 5, MAX_ID, 6, 7];
/// Number of users who publish.
pub(crate) const AUTHORS: usize = 6;
/// Given times lie below this, or are the greatest of all.
pub(crate) const TIMES: u64 = 7;
/// Given content ids lie below this, or are the greatest of all.
pub(crate) const IDS: u64 = 48;

/// Topics of items, and one that no item has.
pub(crate) const TOPICS: [&str; 4] = ["t", "t/1", "é 🌊", "none"];

pub(crate) fn user(raw: u64) -> UserId {
    UserId::new(raw).expect("a user id")
}

pub(crate) fn item(raw: u64) -> ContentId {
    ContentId::new(raw).expect("a content id")
}

pub(crate) fn everybody() -> impl Iterator<Item = UserId> {
    USERS.into_iter().map(user)
}

/// The content id for a small number.
pub(crate) fn id(number: u64) -> u64 {
    if number.is_multiple_of(IDS) { MAX_ID } else { number % IDS }
}

/// The time for a small number.
pub(crate) fn time(number: u64) -> Millis {
    if number % (TIMES + 1) == TIMES { MAX_MILLIS } else { number % (TIMES + 1) }
}

pub(crate) fn place(at: Millis, id: u64) -> Cursor {
    Cursor { at, id: item(id) }
}

pub(crate) fn member(at: Millis, id: UserId) -> UserCursor {
    Position { at, id }
}
