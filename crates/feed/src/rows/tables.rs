//! The tables, one column family each, with their keys.

use std::sync::LazyLock;

use super::keys::{Counter, ErasureHash, EventNumber, ListName, Name, Nickname, Note, Part, TopicName};
use super::mirrors::Mirror;
use super::table::{AnyTable, Counted, Kept, Spec, Table};
use super::values;
use super::values::deletions::Deletion;
use super::values::{Count, ItemSteps, Listed, Number, NumberedList, PackedInbox, Stored, Text};
use kv::{Access, Compression, Family, Steps};
use model::error::{Error, Result};
use model::{
    Activity, ContentId, Cursor, Entry, ErasedUser, Erasure, Job, JobId, ListId, Logged, Membership, Millis, Notice,
    NoticeCursor, Position, Profile, Restriction, TopicId, Unpushed, UserId, UserSettings,
};

macro_rules! tables {
    ($($(#[doc = $about:literal])* $table:ident: $key:ty => $value:ty = $name:literal $([$($option:tt)*])?;)+) => {
        #[allow(clippy::upper_case_acronyms, non_camel_case_types, reason = "the names of the tables")]
        enum Place { $($table),+ }

        $($(#[doc = $about])* pub(crate) const $table: Table<$key, $value> = {
            const SPEC: Spec = Spec::of::<$key, $value>($name)$($($option)*)?;
            const ABOUT: &str = concat!($($about),*);
            Table::new(&Spec { family: Family { place: Place::$table as usize, ..SPEC.family }, about: ABOUT, ..SPEC })
        };)+

        /// All tables except the engine's own `default`, which stays empty; in the order of `docs/schema.md`.
        pub(crate) const ALL: &[AnyTable] = &[$($table.spec),+];
    };
}

// An erasure looks for the rows of a user in this order. None finds what a later part adds: items that are erased become
// unlisted.
tables! {
    /// Items, also deleted ones until they are purged.
    CONTENT: ContentId => Stored = "content"
        [.kept(Kept::Contents).exported().ends_with_item().rising().large().compressed(Compression::ZstdAtBottom)];
    /// Deletions of items. A purged item keeps its row, so that its id is never used again.
    DELETED: ContentId => Deletion = "deleted" [.kept(Kept::Filter).exported().counting(Counted::Deletions).follows(&[(CONTENT.spec, Mirror::DELETED)])];
    /// Live items on each of their paths; first of a source its floor: rows at or below it are dropped at compaction.
    OUTBOX: ByTime<UserId, ContentId> => Entry = "outbox"
        [.kept(Kept::Outboxes).counting(Counted::Hot).counts(Counter::Content).follows(&[(CONTENT.spec, Mirror::OUTBOX)])];
    /// The entries of outboxes at or below the floors. A row of zeros is there if any outbox has a floor.
    OUTBOX_ARCHIVE: ByTime<UserId, ContentId> => Entry = "outbox_archive"
        [.kept(Kept::Outboxes).counting(Counted::Archived).counts(Counter::Content).compressed(Compression::Zstd)];
    /// Live comments on an item.
    COMMENTS: ByTime<ContentId, ContentId> => Listed = "comments"
        [.ends_with_item().follows(&[(CONTENT.spec, Mirror::COMMENTS)])];
    /// Live comments of a user.
    USER_COMMENTS: ByTime<UserId, ContentId> => Entry = "user_comments" [.follows(&[(CONTENT.spec, Mirror::USER_COMMENTS)])];
    /// Items that no list of their author has: see [Unlisted items](#unlisted-items).
    UNLISTED: ByTime<UserId, ContentId> => () = "unlisted"
        [.ends_with_item().follows(&[(CONTENT.spec, Mirror::UNLISTED), (DELETED.spec, Mirror::UNLISTED_PURGED)])];
    // Rows are packed: LZ4 leaves those of unlike inboxes at the same size. Only equal inboxes would shrink.
    /// Home timelines, by fan-out, settle and rebuild.
    INBOXES: UserId => PackedInbox = "inboxes"
        [.kept(Kept::Inboxes).own().large().taking(Steps::Merged).compressed(Compression::None).rebuilt()];
    /// Follows: a user, and a followee.
    FOLLOWING: (UserId, UserId) => Membership = "following" [.exported().counts(Counter::Following)];
    /// Followees in the order of their follows.
    FOLLOWING_BY_TIME: ByTime<UserId, UserId> => () = "following_by_time" [.follows(&[(FOLLOWING.spec, Mirror::BY_TIME)])];
    /// Followers of a user, for fan-outs.
    FOLLOWERS: (UserId, UserId) => Millis = "followers"
        [.counts(Counter::Followers).follows(&[(FOLLOWING.spec, Mirror::REVERSED_WITH_TIME)])];
    /// Followers in the order of their follows.
    FOLLOWERS_BY_TIME: ByTime<UserId, UserId> => () = "followers_by_time"
        [.follows(&[(FOLLOWING.spec, Mirror::BY_TIME_FOR_SECOND)])];
    /// Users who follow each other: two rows a pair, since the later follow.
    FRIENDS_BY_TIME: ByTime<UserId, UserId> => () = "friends_by_time"
        [.counts(Counter::Friends).follows(&[(FOLLOWING.spec, Mirror::FRIENDS)])];
    /// Counters of a user: 1 following, 2 followers, 3 friends, 4 live items on the own page.
    COUNTS: (UserId, Counter) => Count = "counts" [.counting(Counted::NotZero).taking(Steps::Sums(add))];
    /// Counters of an item, which need not exist.
    ITEM_COUNTS: ContentId => ItemSteps = "item_counts"
        [.kept(Kept::Counts).ends_with_item().counting(Counted::NotZero).rising().taking(Steps::ManySums(add_item_counts))];
    /// Reactions to items, also to deleted ones.
    REACTIONS: (ContentId, u8, UserId) => Millis = "reactions" [.kept(Kept::Reactions).exported().ends_with_item()];
    /// Reactions to an item in the order of their times.
    REACTIONS_BY_TIME: OfKindByTime<ContentId, UserId> => () = "reactions_by_time"
        [.ends_with_item().follows(&[(REACTIONS.spec, Mirror::REACTIONS_BY_TIME)])];
    /// Items to which a user reacted.
    REACTIONS_BY_USER: OfKindByTime<UserId, ContentId> => Listed = "reactions_by_user"
        [.ends_with_item().follows(&[(REACTIONS.spec, Mirror::REACTIONS_BY_USER)])];
    /// Names of kinds: of content (0) or of reactions (1), by their numbers.
    KINDS: [u8; 2] => Text = "kinds" [.kept(Kept::Kinds).exported()];
    /// Mutes: a user, and the target.
    MUTES: (UserId, UserId) => Millis = "mutes" [.exported()];
    /// Mutes of a user in the order of their times.
    MUTES_BY_TIME: ByTime<UserId, UserId> => () = "mutes_by_time" [.follows(&[(MUTES.spec, Mirror::BY_TIME)])];
    /// Users who mute a user, for the erasure of that.
    MUTED_BY: (UserId, UserId) => () = "muted_by" [.follows(&[(MUTES.spec, Mirror::REVERSED)])];
    /// Hides: a user, and a reader who is shown nothing of it.
    HIDDEN: (UserId, UserId) => Millis = "hidden" [.exported()];
    /// Hides of a user in the order of their times.
    HIDDEN_BY_TIME: ByTime<UserId, UserId> => () = "hidden_by_time" [.follows(&[(HIDDEN.spec, Mirror::BY_TIME)])];
    /// Users who hide from a reader.
    HIDDEN_TO: (UserId, UserId) => () = "hidden_to" [.follows(&[(HIDDEN.spec, Mirror::REVERSED)])];
    /// Profiles of users.
    PROFILES: UserId => Profile = "profiles" [.kept(Kept::Summaries).exported()];
    /// Beginnings of nicknames, for the search.
    NICKNAMES: Nickname => () = "nicknames" [.follows(&[(PROFILES.spec, Mirror::NICKNAMES)])];
    /// Ids of topics by their names; first, with an empty key, the highest id.
    TOPIC_IDS: TopicName => Number = "topic_ids" [.kept(Kept::TopicIds)];
    /// Live items of a topic; first of a topic its floor, as in `outbox`.
    TOPIC_CONTENT: ByTime<TopicId, ContentId> => Listed = "topic_content"
        [.kept(Kept::Topics).counting(Counted::Hot).follows(&[(CONTENT.spec, Mirror::TOPIC_CONTENT)])];
    /// Items of topics at or below the floors, as in `outbox_archive`.
    TOPIC_ARCHIVE: ByTime<TopicId, ContentId> => Listed = "topic_archive"
        [.kept(Kept::Topics).counting(Counted::Archived).compressed(Compression::Zstd)];
    /// Numbers of the names that the application uses as ids.
    NAMES: Name => Number = "names" [.kept(Kept::Names).missing()];
    /// Names by their numbers; empty once the user is [erased](#parts-of-an-erasure).
    NAMES_BY_NUMBER: u64 => Text = "names_by_number" [.kept(Kept::NamesByNumber).exported().follows(&[(NAMES.spec, Mirror::NAMES_BY_NUMBER)])];
    /// The state of the inbox of a user, and the time at which the user was last seen.
    ACTIVITY: UserId => Activity = "activity" [.kept(Kept::Activities).own()];
    /// The newest items of a source that did not reach all followers.
    UNPUSHED: UserId => Unpushed = "unpushed" [.kept(Kept::Unpushed).own()];
    /// Markers of home timelines.
    MARKERS: UserId => Cursor = "markers" [.exported()];
    /// Suspended users, since when.
    SUSPENDED: UserId => Millis = "suspended" [.kept(Kept::Filter).exported()];
    /// Lists of users; first, with an empty key, the highest number of any list.
    LISTS: ListName => NumberedList = "lists" [.exported()];
    /// Members of a list.
    LIST_MEMBERS: (ListId, UserId) => Membership = "list_members" [.exported()];
    /// Members of a list in the order of their times.
    LIST_MEMBERS_BY_TIME: ByTime<ListId, UserId> => () = "list_members_by_time"
        [.follows(&[(LIST_MEMBERS.spec, Mirror::BY_TIME)])];
    /// Lists in which a user is, for the erasure of the user.
    MEMBER_OF: (UserId, ListId) => () = "member_of" [.follows(&[(LIST_MEMBERS.spec, Mirror::REVERSED)])];
    /// Markers of lists.
    LIST_MARKERS: ListId => Cursor = "list_markers" [.exported()];
    /// Work that is under way.
    JOBS: JobId => Job = "jobs" [.own()];
    /// The log of changes. A start, streams that resume and the feed of changes read it.
    EVENTS: EventNumber => Logged = "events" [.read_by(Access::Log).counting(Counted::Newest)];
    /// Notes of the server: see [Notes](#notes).
    NOTES: Note => Vec<u8> = "notes" [.own()];
    /// Blocks: a user, and the target.
    BLOCKS: (UserId, UserId) => Millis = "blocks" [.exported()];
    /// Blocks of a user in the order of their times.
    BLOCKS_BY_TIME: ByTime<UserId, UserId> => () = "blocks_by_time" [.follows(&[(BLOCKS.spec, Mirror::BY_TIME)])];
    /// Users who block a user.
    BLOCKED_BY: (UserId, UserId) => () = "blocked_by" [.follows(&[(BLOCKS.spec, Mirror::REVERSED)])];
    /// Paths that an item was taken off, by their sources.
    TAKEN_OFF: (ContentId, UserId) => Millis = "taken_off" [.kept(Kept::Filter).ends_with_item()];
    /// Settings of users.
    SETTINGS: UserId => UserSettings = "settings" [.kept(Kept::Filter).exported()];
    /// Requests to follow: a user, and the target.
    REQUESTS: (UserId, UserId) => Membership = "requests" [.exported()];
    /// Requests of a user in the order of their times.
    SENT_REQUESTS: ByTime<UserId, UserId> => () = "sent_requests" [.follows(&[(REQUESTS.spec, Mirror::BY_TIME)])];
    /// Requests to a user in the order of their times.
    FOLLOW_REQUESTS: ByTime<UserId, UserId> => () = "follow_requests"
        [.follows(&[(REQUESTS.spec, Mirror::BY_TIME_FOR_SECOND)])];
    /// Erasures under way.
    ERASURES: UserId => Erasure = "erasures" [.kept(Kept::Erasing).exported().counting(Counted::Keys)];
    /// Erasures that are over, for 90 days, by [hashes of their users](#parts-of-an-erasure).
    ERASED: ErasureHash => ErasedUser = "erased" [.counting(Counted::Keys)];
    /// Notices of a user: see [Rows of notices](#rows-of-notices). Older ones are dropped at compaction.
    NOTICES: (UserId, NoticeCursor) => Notice = "notices" [.counting(Counted::Notices)];
    /// Markers of notices.
    NOTICE_MARKERS: UserId => NoticeCursor = "notice_markers" [.exported()];
    /// Users whose marker is at a notice of an actor, for the erasure of the actor.
    NOTICE_MARKERS_AT: (UserId, UserId) => () = "notice_markers_at"
        [.follows(&[(NOTICE_MARKERS.spec, Mirror::ACTORS_OF_MARKERS)])];
    /// Items that mention a user, for the erasure of the user.
    MENTIONED_IN: ByTime<UserId, ContentId> => () = "mentioned_in"
        [.ends_with_item().follows(&[(CONTENT.spec, Mirror::MENTIONED_IN)])];
}

/// The tables whose rows follow from those of a table.
pub(crate) fn mirrors_of(table: AnyTable) -> &'static [(AnyTable, Mirror)] {
    static MIRRORS: LazyLock<Vec<Vec<(AnyTable, Mirror)>>> = LazyLock::new(|| {
        let of = |source: &AnyTable| {
            let from = |mirror: &&'static (AnyTable, Mirror)| mirror.0 == *source;
            ALL.iter()
                .flat_map(|table| table.follows.iter().filter(from).map(|(_, mirror)| (*table, *mirror)))
                .collect()
        };
        ALL.iter().map(of).collect()
    });
    MIRRORS.get(table.place).map(Vec::as_slice).unwrap_or_default()
}

/// The tables in which the rows of an item that ends with it are found by their first part, the item: those with rows that
/// follow from more than items, or from which others follow; or those whose rows are alone.
pub(crate) fn ending_with_item(are_alone: bool) -> impl Iterator<Item = AnyTable> {
    let is_alone = |table: AnyTable| mirrors_of(table).is_empty() && table.follows.iter().all(|(of, _)| *of == CONTENT);
    let of_item = |table: &AnyTable| table.ends_with_item && table.keys.first() == Some(&Part::ITEM);
    // Where rows are read one by one, others that follow from them begin with the item, too.
    let is_walked = |table: AnyTable| table.access != Access::Point;
    let wanted = move |table: &AnyTable| is_alone(table) == are_alone && (are_alone || is_walked(table));
    ALL.iter().copied().filter(of_item).filter(wanted)
}

/// The row from which a row of a table follows, or else the row itself. `Corrupt` if the row cannot be read.
pub(crate) fn origin(table: AnyTable, key: &[u8], value: &[u8]) -> Result<(AnyTable, Vec<u8>)> {
    let Some((source, mirror)) = table.follows.first() else { return Ok((table, key.to_vec())) };
    let origin = (mirror.source)(key, value).and_then(|source| source.key().map(<[u8]>::to_vec));
    Ok((source, origin.ok_or_else(|| Error::Corrupt(format!("a row of {table}")))?))
}

/// Places in a list by time, for each id of `P`.
pub(crate) type ByTime<P, I> = (P, Position<I>);

/// Places in a list by time, for each id of `P` and each kind of reactions.
type OfKindByTime<P, I> = (P, u8, Position<I>);

/// Pairs of users, since when.
pub(crate) type Pairs = Table<(UserId, UserId), Millis>;

/// Users in the order of their times, for each user.
pub(crate) type UsersByTime = Table<ByTime<UserId, UserId>, ()>;

/// A restriction's rows by id, and those by time.
pub(crate) fn of_restriction(restriction: Restriction) -> (Pairs, UsersByTime) {
    match restriction {
        Restriction::Mute => (MUTES, MUTES_BY_TIME),
        Restriction::Hide => (HIDDEN, HIDDEN_BY_TIME),
        Restriction::Block => (BLOCKS, BLOCKS_BY_TIME),
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
