//! The few users, ids and times that the sequences use, with both extremes.

use feed::{Feed, ids};
use kv::Tier;
use model::{ContentId, Cursor, ExternalId, MAX_ID, MAX_MILLIS, Millis, NamedRule, ReactionKinds, UserId};

use crate::plain::item;

/// All users. The authors come first.
pub(crate) const USERS: [u64; 8] = [1, 2, 3, 4, 5, MAX_ID, 6, 7];
/// Number of users who publish.
pub(crate) const AUTHORS: usize = 6;
/// Given times lie below this, or are the greatest of all.
pub(crate) const TIMES: u64 = 7;
/// Given content ids lie below this, or are the greatest of all.
pub(crate) const IDS: u64 = 48;

/// Names of lists.
pub(crate) const LISTS: [&str; 2] = ["close", "é/ "];

/// Topics of items, and one that no item has.
pub(crate) const TOPICS: [&str; 4] = ["t", "t/1", "é 🌊", "none"];

/// The names of the kinds of reactions.
const REACTIONS: [&str; 4] = ["like", "favorite", "👏", "100% so"];

/// The kinds of reactions.
pub(crate) fn reaction_kinds() -> ReactionKinds {
    ReactionKinds::new(REACTIONS.map(str::to_owned).into()).expect("names")
}

/// The ids that a host gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ids {
    Numbers,
    Names,
    Mixed,
}

impl Ids {
    pub(crate) const ALL: [Self; 3] = [Self::Numbers, Self::Names, Self::Mixed];

    /// The id that stands for a number, of a user and of an item.
    pub(crate) fn host(self, raw: u64) -> ExternalId {
        match self {
            Self::Names => name(raw).parse().expect("an id"),
            Self::Mixed if raw.is_multiple_of(2) => name(raw).parse().expect("an id"),
            _ => ExternalId::Number(raw),
        }
    }

    /// The user in the store who stands for a number.
    pub(crate) fn user(self, feed: &Feed, raw: u64) -> UserId {
        ids::give(feed, &self.host(raw)).expect("a user id")
    }

    /// The item in the store that stands for a number.
    pub(crate) fn item(self, feed: &Feed, raw: u64) -> ContentId {
        ids::give(feed, &self.host(raw)).expect("a content id")
    }
}

/// The id of the host that has this number in the store.
pub(crate) fn host(feed: &Feed, number: impl Into<u64>) -> ExternalId {
    match number.into() {
        raw if raw <= MAX_ID => ExternalId::Number(raw),
        raw => ExternalId::Name(feed::ids::tables::names(feed.store(), &[raw], Tier::Disk).expect("reads").remove(0)),
    }
}

/// A name that looks like a number or like another name.
fn name(raw: u64) -> String {
    let alike = raw / 8;
    match raw % 8 {
        0 => format!("0{raw}"),
        1 => format!("é {alike}"),
        2 => format!("e\u{301} {alike}"),
        3 => format!("{raw:0>128}"),
        4 => format!("9{raw:0>19}"),
        5 => format!("-{raw}"),
        6 => format!("{raw}-{raw}/%2F,.."),
        _ => format!("{raw:08x}-0000-4000-8000-🌊"),
    }
}

/// An id in JSON: a number as such.
pub(crate) fn json(host: &ExternalId) -> String {
    match host {
        ExternalId::Number(raw) => raw.to_string(),
        ExternalId::Name(name) => serde_json::json!(&**name).to_string(),
    }
}

/// Rules, and kinds to ask for. Nothing has the kind `a`.
pub(crate) fn rule(number: usize) -> NamedRule {
    let kinds = |names: &str| names.parse().expect("kinds");
    match number % RULES {
        1 => NamedRule::Only(kinds("post")),
        2 => NamedRule::Except(kinds("post,a")),
        3 => NamedRule::Except(kinds("repost")),
        4 => NamedRule::Only(kinds("comment,repost")),
        5 => NamedRule::Only(kinds("a")),
        _ => NamedRule::All,
    }
}

/// How many there are.
pub(crate) const RULES: usize = 6;

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
