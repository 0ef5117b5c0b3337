//! The tables, one column family each, with their keys.

use std::fmt;
use std::ops::Deref;
use std::sync::LazyLock;

use super::inbox;
use super::keys::Counter;
use super::mirrors::Mirror;
use super::values;
use kv::{Access, Compression, Family, Steps};
use model::{Barrier, UserId};

/// One of the tables below.
pub(crate) type Table = &'static Spec;

/// The declaration of a table, from which the engine's options, figures, `check` and comparisons of nodes follow.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Its name is as in `docs/schema.md`.
    family: Family,
    /// The kind of its keys.
    pub(crate) keys: Keys,
    /// The rows that count in a comparison of nodes; `None` for a table that is each node's own.
    pub(crate) counted: Option<Counted>,
    /// Whether a value can be read. For tables of which an audit checks nothing else.
    pub(crate) record: Option<fn(&[u8]) -> bool>,
    /// The tables from whose rows its own follow, and how: changes write them, and an audit makes them anew.
    pub(crate) follows: &'static [(Table, Mirror)],
    /// The count of a row's first user to which each row adds one.
    pub(crate) counter: Option<Counter>,
}

impl Deref for Spec {
    type Target = Family;

    fn deref(&self) -> &Family {
        &self.family
    }
}

/// The kind and owner of a table's keys, by which an audit names a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// An id.
    One(&'static str),
    /// The id of an owner of this kind, and a user.
    Pair(&'static str),
    /// A user and a text: the name of something of the user.
    OfUser(&'static str),
    /// A user and a counter.
    Counter,
    /// A text that has a number, and its kind.
    Text(&'static str),
    /// An item, a kind and a user.
    Reaction,
    /// A partition and a place in it.
    Row(&'static str),
    /// A partition of an id and a kind, and a place in it.
    KindRow(&'static str),
    /// What it is a kind of, and its byte.
    Kind,
    /// A user and the place of a notice.
    Notice,
    /// A beginning of a nickname, and its user.
    Nickname,
}

impl Keys {
    /// A user and another user.
    pub(crate) const USERS: Self = Self::Pair("user");
}

/// The rows of a table that count in a comparison of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    All,
    /// Rows of an item, whose id is the first in the key, unless its deletion is final.
    OfItem,
    /// Rows of an item, whose inverted id is the last in the key, unless its deletion is final.
    ByItem,
    /// Each deletion; if it is final without its time, which a purge changes.
    Deletions,
    /// Rows with another value than zero.
    NotZero,
    /// Those that are not zero, unless the deletion of their item is final.
    OfItemNotZero,
    /// Rows above the floor of their partition. Rows at or below it stay until a compaction.
    Hot,
    /// The rows of partitions. They count with the table before.
    Archived,
    /// All rows, without their values: what is counted in them differs between nodes.
    Keys,
    /// Notices of times that are kept, unless the deletion of their item is final.
    Notices,
    /// The newest events: each node forgets old ones at its own times.
    Newest,
}

impl Spec {
    /// A table whose rows all count.
    const fn new(name: &'static str, access: Access, keys: Keys) -> Self {
        Self {
            family: Family::new(name, access),
            keys,
            counted: Some(Counted::All),
            record: None,
            follows: &[],
            counter: None,
        }
    }

    /// A table of single rows.
    const fn point(name: &'static str, keys: Keys) -> Self {
        Self::new(name, Access::Point, keys)
    }

    /// A table of one row a user, which an audit compares with no other table.
    const fn record(name: &'static str, reads: fn(&[u8]) -> bool) -> Self {
        Self::point(name, Keys::One("user")).read_by(reads)
    }

    /// A table of ordered rows in partitions.
    const fn scan(name: &'static str, keys: Keys) -> Self {
        Self::new(name, Access::Scan, keys)
    }

    /// A table of pairs of users. The pairs of one user are also read in order.
    const fn pairs(name: &'static str) -> Self {
        Self::new(name, Access::PointAndScan, Keys::USERS)
    }

    /// Its rows follow from those of others.
    const fn follows(self, follows: &'static [(Table, Mirror)]) -> Self {
        Self { follows, ..self }
    }

    /// Each row adds one to a count of its first user.
    const fn counts(self, counter: Counter) -> Self {
        Self { counter: Some(counter), ..self }
    }

    const fn counting(self, counted: Counted) -> Self {
        Self { counted: Some(counted), ..self }
    }

    /// With other engine options.
    const fn on(self, family: Family) -> Self {
        Self { family, ..self }
    }

    /// Changes mostly look up new ids, which are above all of its keys.
    const fn rising(self) -> Self {
        let family = Family { is_rising: true, ..self.family };
        self.on(family)
    }

    /// Its rows take little room.
    const fn compressed(self, compression: Compression) -> Self {
        let family = Family { compression, ..self.family };
        self.on(family)
    }

    /// It takes many bytes a second.
    const fn large(self) -> Self {
        let family = Family { is_large: true, ..self.family };
        self.on(family)
    }

    /// Most look-ups that reach it are for new keys.
    const fn missing(self) -> Self {
        let family = Family { misses: true, ..self.family };
        self.on(family)
    }

    /// All of it follows from others, so that a damaged one is made anew.
    const fn rebuilt(self) -> Self {
        let family = Family { can_be_dropped: true, ..self.family };
        self.on(family)
    }

    /// An audit checks that each value can be read.
    const fn read_by(self, reads: fn(&[u8]) -> bool) -> Self {
        Self { record: Some(reads), ..self }
    }

    /// Each node has its own.
    const fn own(self) -> Self {
        Self { counted: None, ..self }
    }

    /// The engine merges steps into its rows.
    const fn taking(self, steps: Steps) -> Self {
        let family = Family { steps, ..self.family };
        self.on(family)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.family.fmt(f)
    }
}

// Places are unique.
impl PartialEq for Spec {
    fn eq(&self, other: &Self) -> bool {
        self.family == other.family
    }
}

macro_rules! tables {
    ($($table:ident = $spec:expr;)+) => {
        #[allow(clippy::upper_case_acronyms, non_camel_case_types, reason = "the names of the tables")]
        enum Place { $($table),+ }

        $(pub(crate) const $table: Table = {
            const SPEC: Spec = $spec;
            &Spec { family: Family { place: Place::$table as usize, ..SPEC.family }, ..SPEC }
        };)+

        /// All tables except the engine's own `default`, which stays empty; in the order of `docs/schema.md`.
        pub(crate) const ALL: &[Table] = &[$($table),+];
    };
}

tables! {
    CONTENT = Spec::point("content", Keys::One("content")).counting(Counted::OfItem).rising().large().compressed(Compression::ZstdAtBottom);
    DELETED = Spec::point("deleted", Keys::One("content"))
        .counting(Counted::Deletions)
        .read_by(|row| values::deletions::read_deletion(row).is_ok())
        .follows(&[(CONTENT, Mirror::DELETED)]);
    OUTBOX = Spec::scan("outbox", Keys::Row("user")).counting(Counted::Hot).counts(Counter::Content).follows(&[(CONTENT, Mirror::OUTBOX)]);
    OUTBOX_ARCHIVE = Spec::scan("outbox_archive", Keys::Row("user"))
        .counting(Counted::Archived)
        .counts(Counter::Content)
        .compressed(Compression::Zstd);
    COMMENTS = Spec::scan("comments", Keys::Row("content")).counting(Counted::OfItem).follows(&[(CONTENT, Mirror::COMMENTS)]);
    USER_COMMENTS = Spec::scan("user_comments", Keys::Row("user")).follows(&[(CONTENT, Mirror::USER_COMMENTS)]);
    UNLISTED = Spec::scan("unlisted", Keys::Row("user"))
        .counting(Counted::ByItem)
        .follows(&[(CONTENT, Mirror::UNLISTED), (DELETED, Mirror::UNLISTED_PURGED)]);
    // Rows are packed: LZ4 leaves those of unlike inboxes at the same size. Only equal inboxes would shrink.
    INBOXES = Spec::record("inboxes", inbox::is_readable)
        .own()
        .large()
        .taking(Steps::Merged)
        .compressed(Compression::None)
        .rebuilt();
    FOLLOWING = Spec::pairs("following").counts(Counter::Following);
    FOLLOWING_BY_TIME = Spec::scan("following_by_time", Keys::Row("user")).follows(&[(FOLLOWING, Mirror::BY_TIME)]);
    FOLLOWERS = Spec::pairs("followers").counts(Counter::Followers).follows(&[(FOLLOWING, Mirror::REVERSED_WITH_TIME)]);
    FOLLOWERS_BY_TIME = Spec::scan("followers_by_time", Keys::Row("user")).follows(&[(FOLLOWING, Mirror::BY_TIME_FOR_SECOND)]);
    FRIENDS_BY_TIME = Spec::scan("friends_by_time", Keys::Row("user")).counts(Counter::Friends).follows(&[(FOLLOWING, Mirror::FRIENDS)]);
    COUNTS = Spec::point("counts", Keys::Counter).counting(Counted::NotZero).taking(Steps::Sums(add));
    ITEM_COUNTS = Spec::point("item_counts", Keys::One("content"))
        .counting(Counted::OfItemNotZero)
        .rising()
        .taking(Steps::ManySums(add_item_counts));
    REACTIONS = Spec::point("reactions", Keys::Reaction).counting(Counted::OfItem);
    REACTIONS_BY_TIME = Spec::scan("reactions_by_time", Keys::KindRow("content"))
        .counting(Counted::OfItem)
        .follows(&[(REACTIONS, Mirror::REACTIONS_BY_TIME)]);
    REACTIONS_BY_USER = Spec::scan("reactions_by_user", Keys::KindRow("user"))
        .counting(Counted::ByItem)
        .follows(&[(REACTIONS, Mirror::REACTIONS_BY_USER)]);
    KINDS = Spec::point("kinds", Keys::Kind);
    MUTES = Spec::pairs("mutes");
    MUTES_BY_TIME = Spec::scan("mutes_by_time", Keys::Row("user")).follows(&[(MUTES, Mirror::BY_TIME)]);
    MUTED_BY = Spec::pairs("muted_by").follows(&[(MUTES, Mirror::REVERSED)]);
    HIDDEN = Spec::pairs("hidden");
    HIDDEN_BY_TIME = Spec::scan("hidden_by_time", Keys::Row("user")).follows(&[(HIDDEN, Mirror::BY_TIME)]);
    HIDDEN_TO = Spec::pairs("hidden_to").follows(&[(HIDDEN, Mirror::REVERSED)]);
    PROFILES = Spec::record("profiles", |row| values::read_profile(row).is_ok());
    NICKNAMES = Spec::point("nicknames", Keys::Nickname).follows(&[(PROFILES, Mirror::NICKNAMES)]);
    TOPIC_IDS = Spec::point("topic_ids", Keys::Text("topic"));
    TOPIC_CONTENT = Spec::scan("topic_content", Keys::Row("topic")).counting(Counted::Hot).follows(&[(CONTENT, Mirror::TOPIC_CONTENT)]);
    TOPIC_ARCHIVE = Spec::scan("topic_archive", Keys::Row("topic")).counting(Counted::Archived).compressed(Compression::Zstd);
    NAMES = Spec::point("names", Keys::Text("name")).missing();
    NAMES_BY_NUMBER = Spec::point("names_by_number", Keys::One("number")).follows(&[(NAMES, Mirror::NAMES_BY_NUMBER)]);
    ACTIVITY = Spec::record("activity", |row| values::read_activity(row).is_ok()).own();
    UNPUSHED = Spec::record("unpushed", |row| values::read_unpushed(row).is_ok()).own();
    MARKERS = Spec::record("markers", |row| values::read_marker(row).is_ok());
    SUSPENDED = Spec::record("suspended", |row| values::read_millis(row).is_ok());
    LISTS = Spec::new("lists", Access::PointAndScan, Keys::OfUser("list")).read_by(values::is_list);
    LIST_MEMBERS = Spec::new("list_members", Access::PointAndScan, Keys::Pair("list"));
    LIST_MEMBERS_BY_TIME = Spec::scan("list_members_by_time", Keys::Row("list")).follows(&[(LIST_MEMBERS, Mirror::BY_TIME)]);
    MEMBER_OF = Spec::pairs("member_of").follows(&[(LIST_MEMBERS, Mirror::REVERSED)]);
    LIST_MARKERS = Spec::point("list_markers", Keys::One("list")).read_by(|row| values::read_marker(row).is_ok());
    JOBS = Spec::new("jobs", Access::Queue, Keys::One("job")).own();
    EVENTS = Spec::new("events", Access::Log, Keys::One("event")).counting(Counted::Newest);
    REPLICA = Spec::point("replica", Keys::Text("mark")).own();
    BLOCKS = Spec::pairs("blocks");
    BLOCKS_BY_TIME = Spec::scan("blocks_by_time", Keys::Row("user")).follows(&[(BLOCKS, Mirror::BY_TIME)]);
    BLOCKED_BY = Spec::pairs("blocked_by").follows(&[(BLOCKS, Mirror::REVERSED)]);
    TAKEN_OFF = Spec::new("taken_off", Access::PointAndScan, Keys::Pair("content"))
        .counting(Counted::OfItem)
        .read_by(|row| values::read_millis(row).is_ok());
    SETTINGS = Spec::record("settings", |row| values::read_settings(row).is_ok());
    REQUESTS = Spec::pairs("requests");
    SENT_REQUESTS = Spec::scan("sent_requests", Keys::Row("user")).follows(&[(REQUESTS, Mirror::BY_TIME)]);
    FOLLOW_REQUESTS = Spec::scan("follow_requests", Keys::Row("user")).follows(&[(REQUESTS, Mirror::BY_TIME_FOR_SECOND)]);
    ERASURES = Spec::record("erasures", |row| values::erasures::read_erasure(UserId::MIN, row).is_ok()).counting(Counted::Keys);
    ERASED = Spec::point("erased", Keys::Text("erasure"))
        .counting(Counted::Keys)
        .read_by(|row| values::erasures::read_erased(row).is_ok());
    NOTICES = Spec::scan("notices", Keys::Notice).counting(Counted::Notices);
    NOTICE_MARKERS = Spec::record("notice_markers", |row| values::read_notice_marker(row).is_ok());
    NOTICE_MARKERS_AT = Spec::pairs("notice_markers_at").follows(&[(NOTICE_MARKERS, Mirror::ACTORS_OF_MARKERS)]);
    MENTIONED_IN = Spec::scan("mentioned_in", Keys::Row("user")).counting(Counted::ByItem).follows(&[(CONTENT, Mirror::MENTIONED_IN)]);
}

/// The tables whose rows follow from those of a table.
pub(crate) fn mirrors_of(table: Table) -> &'static [(Table, Mirror)] {
    static MIRRORS: LazyLock<Vec<Vec<(Table, Mirror)>>> = LazyLock::new(|| {
        let of = |source: &Table| {
            let from = |mirror: &&'static (Table, Mirror)| mirror.0 == *source;
            ALL.iter()
                .flat_map(|table| table.follows.iter().filter(from).map(|(_, mirror)| (*table, *mirror)))
                .collect()
        };
        ALL.iter().map(of).collect()
    });
    MIRRORS.get(table.place).map(Vec::as_slice).unwrap_or_default()
}

/// A barrier's rows by id and by time, and those by the target.
pub(crate) fn of_barrier(barrier: Barrier) -> (Table, Table, Table) {
    match barrier {
        Barrier::Mute => (MUTES, MUTES_BY_TIME, MUTED_BY),
        Barrier::Hide => (HIDDEN, HIDDEN_BY_TIME, HIDDEN_TO),
        Barrier::Block => (BLOCKS, BLOCKS_BY_TIME, BLOCKED_BY),
    }
}

/// Adds a step to a counter. A step that cannot be read counts nothing: a merge cannot fail.
fn add(present: Option<&[u8]>, step: &[u8]) -> Vec<u8> {
    let [present, step] = [present, Some(step)].map(|row| row.and_then(values::read_count).unwrap_or_default());
    values::count(present.wrapping_add(step)).to_vec()
}

/// Adds steps to the counters of an item.
fn add_item_counts(present: Option<&[u8]>, steps: &[u8]) -> Vec<u8> {
    let mut sum = present.and_then(values::read_item_counts).unwrap_or_default();
    values::read_item_counts(steps).iter().for_each(|steps| sum.add(steps));
    values::item_counts(&sum)
}
