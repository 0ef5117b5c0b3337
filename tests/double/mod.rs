//! The double of the store, for tests: ordered maps behind one lock.
//!
//! Written to be obviously right, not fast. Every fact is kept in one place, from which lists by time and counts are
//! derived. Tests compare the store on disk with it. Its locks are those of
//! `model::sync`: with those of a scheduler, another thread may run before and after each operation.

mod content;
mod digests;
mod events;
mod graph;
mod inbox;
mod names;
mod reactions;
mod records;
mod replica;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::error::{Error, Result};
use model::store::{Copied, Copies, Store, TableStats, Upkeep, Usage, Watch};
use model::{
    Activity, COMMENT, Content, ContentId, Cursor, Entry, Event, JobId, Millis, Order, Position, Progress,
    ReactionKind, Span, TopicId, Unpushed, UserId, Work,
};

use model::sync::{Mutex, MutexGuard};

/// A store without a disk. Every answer is in memory, so the tier of a read makes no difference.
#[derive(Debug, Default)]
pub struct Double {
    state: Mutex<State>,
    /// Held by a publish, edit, delete or restore; by a publish or restore until the caller has been told. Reads go on
    /// meanwhile. Taken before `state`.
    changing: Mutex<()>,
    fault: Option<Fault>,
}

/// A fault of the store, by which a test shows that it detects the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A caller is told of new items before they are written.
    ToldBeforeWritten,
    /// A read of a user's activity fixes the inbox that the user sees from then on.
    InboxBeforePending,
    /// Partial pushes leave out returning users.
    ReturningSkipped,
    /// Each job has a lane of its own.
    LanePerJob,
}

/// All tables.
#[derive(Debug, Default)]
struct State {
    /// Includes deleted content.
    content: BTreeMap<ContentId, Content>,
    deleted: BTreeMap<ContentId, Millis>,
    /// Each subject with the items that ever referred to it.
    referring: BTreeSet<(ContentId, ContentId)>,
    outbox: BTreeSet<(UserId, Cursor)>,
    /// The ids of topics that an item has ever named.
    topics: BTreeMap<String, TopicId>,
    /// Numbers of names.
    names: BTreeMap<String, u64>,
    /// Reserved numbers, each with the number of its holders.
    reserved: BTreeMap<String, (u64, usize)>,
    /// The highest number of a name.
    last_name: u64,
    /// Whether this is the store of a node. There a change that is refused leaves no name.
    is_node: bool,
    /// Names of the change under way that no write has yet, each with the number of its holders. Only on a node.
    held: BTreeMap<String, usize>,
    /// The highest number of a name that a write has.
    written_name: u64,
    /// User and place to the author. Rows at or below the floor are ignored.
    inbox: BTreeMap<(UserId, Cursor), UserId>,
    floors: BTreeMap<UserId, Cursor>,
    /// User and followee to `since`.
    following: BTreeMap<(UserId, UserId), Millis>,
    /// User and follower; the mirror image of `following`.
    followers: BTreeMap<(UserId, UserId), Millis>,
    /// Item, kind and user to `since`; also of deleted items.
    reactions: BTreeMap<(ContentId, ReactionKind, UserId), Millis>,
    /// User and target to `since`.
    mutes: BTreeMap<(UserId, UserId), Millis>,
    /// User and the user from whom it hides to `since`.
    hidden: BTreeMap<(UserId, UserId), Millis>,
    activity: BTreeMap<UserId, Activity>,
    unpushed: BTreeMap<UserId, Unpushed>,
    records: records::Tables,
    jobs: BTreeMap<JobId, (Work, Option<Progress>)>,
    /// By their numbers.
    events: BTreeMap<u64, Event>,
    /// The number of the newest job ever made.
    last_job: u64,
    /// The notes of a node.
    notes: BTreeMap<String, Vec<u8>>,
    /// With [`Fault::InboxBeforePending`]: the floor and the rows of each inbox as they were.
    early: BTreeMap<UserId, (Option<Cursor>, Vec<Entry>)>,
    lane_per_job: bool,
}

impl Upkeep for Double {
    fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let state = self.state();
        let mut users = BTreeSet::new();
        users.extend(state.inbox.keys().map(|(user, _)| *user));
        users.extend(state.floors.keys());
        users.extend(state.following.keys().map(|(user, _)| *user));
        users.extend(state.followers.keys().map(|(user, _)| *user));
        users.extend(state.outbox.iter().map(|(author, _)| *author));
        users.extend(state.mutes.keys().map(|(user, _)| *user));
        users.extend(state.hidden.keys().flat_map(|(owner, target)| [*owner, *target]));
        Ok(users.into_iter().filter(|user| Some(*user) > after).take(limit).collect())
    }

    // Every fact is kept in one place, so there is nothing to compare.
    fn audit(&self, _watch: &mut dyn Watch) -> Result<()> {
        Ok(())
    }

    // There is nothing to make durable.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        let mut state = self.state();
        let State { inbox, floors, .. } = &mut *state;
        inbox.retain(|(user, cursor), _| Some(cursor) > floors.get(user));
        Ok(())
    }

    // The rows are exact, and no bytes are on disk.
    fn stats(&self) -> Result<Vec<TableStats>> {
        let state = self.state();
        let with_counts: BTreeSet<_> = state.following.keys().chain(state.followers.keys()).map(|key| key.0).collect();
        let friends = state.following.keys().filter(|key| state.followers.contains_key(key)).count();
        let live = state.content.values().filter(|content| !state.deleted.contains_key(&content.id));
        let comments = live.filter(|content| content.kind == COMMENT);
        let reactions = |of| state.reactions.keys().filter(|(_, kind, _)| *kind == of).count();
        let rows = [
            ("content", state.content.len()),
            ("deleted", state.deleted.len()),
            ("outbox", state.outbox.len()),
            ("outbox_archive", 0),
            ("inboxes", state.inbox.len()),
            ("following", state.following.len()),
            ("following_by_time", state.following.len()),
            ("followers", state.followers.len()),
            ("followers_by_time", state.followers.len()),
            ("friends_by_time", friends),
            ("comments", comments.clone().filter(|comment| comment.ref_id.is_some()).count()),
            ("user_comments", comments.count()),
            ("counts", with_counts.len()),
            ("item_counts", state.counted_items()),
            ("likes", reactions(ReactionKind::Like)),
            ("likes_by_time", reactions(ReactionKind::Like)),
            ("likes_by_user", reactions(ReactionKind::Like)),
            ("favorites", reactions(ReactionKind::Favorite)),
            ("favorites_by_time", reactions(ReactionKind::Favorite)),
            ("favorites_by_user", reactions(ReactionKind::Favorite)),
            ("mutes", state.mutes.len()),
            ("mutes_by_time", state.mutes.len()),
            ("hidden", state.hidden.len()),
            ("hidden_by_time", state.hidden.len()),
            ("hidden_to", state.hidden.len()),
            ("topic_ids", state.topics.len() + usize::from(!state.topics.is_empty())),
            ("topic_content", state.topic_rows()),
            ("topic_archive", 0),
            ("names", state.names.len()),
            ("names_by_number", state.names.len()),
            ("activity", state.activity.len()),
            ("unpushed", state.unpushed.len()),
            ("jobs", state.jobs.len()),
            ("events", state.events.len()),
            ("replica", state.notes.len()),
        ];
        let rows = rows.into_iter().chain(state.records.rows());
        Ok(rows.map(|(table, rows)| TableStats { table, rows: rows as u64, bytes: 0 }).collect())
    }

    fn needs_restart(&self) -> bool {
        false
    }

    fn refusal(&self) -> Option<String> {
        None
    }

    fn usage(&self) -> Result<Usage> {
        Ok(Usage { tables: self.stats()?, ..Usage::default() })
    }
}

// There is nothing on disk that a file could be a copy of.
impl Copies for Double {
    fn copy_to(&self, dir: &Path) -> Result<Copied> {
        Err(Error::Storage(format!("{}: this store has no files", dir.display())))
    }

    fn check_copy(&self, copy: &Path, _: &Path, _: &mut dyn Watch) -> Result<()> {
        Err(Error::Storage(format!("{}: this store has no files", copy.display())))
    }
}

impl Store for Double {}

impl Double {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store with a fault.
    pub fn with(fault: Fault) -> Self {
        let state = State { lane_per_job: fault == Fault::LanePerJob, ..State::default() };
        Self { state: Mutex::new(state), fault: Some(fault), ..Self::default() }
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock()
    }

    /// The tables, locked for one whole operation. No operation leaves them half changed when it panics.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// The first `limit` of the places inside `span`, in `order`.
fn walk<T, I: Copy + Ord>(
    rows: impl Iterator<Item = T>,
    place: impl Fn(&T) -> Position<I>,
    span: Span<I>,
    order: Order,
    limit: usize,
) -> Vec<T> {
    let mut found: Vec<T> = rows.filter(|row| span.contains(place(row))).collect();
    found.sort_by_key(&place);
    if order == Order::NewestFirst {
        found.reverse();
    }
    found.truncate(limit);
    found
}
