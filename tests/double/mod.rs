//! The double of the store, for tests: ordered maps behind one lock.
//!
//! Written to be obviously right, not fast. Every fact is kept in one place, from which lists by time and counts are
//! derived. Tests compare the store on disk with it. Its locks are those of
//! `model::sync`: with those of a scheduler, another thread may run before and after each operation.

mod content;
mod digests;
mod erasures;
mod events;
mod graph;
mod inbox;
mod names;
mod notices;
mod reactions;
mod records;
mod replica;
mod user_lists;
mod users;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use model::error::{Error, Result};
use model::store::{Copied, Copies, LogFacts, LogReader, Logs, Store, TableStats, Upkeep, Usage, Watch};
use model::{
    Activity, Content, ContentId, Cursor, Effect, Entry, JobId, Logged, Millis, Order, Position, Progress,
    ReactionKinds, Scan, TopicId, Unpushed, UserId, Work,
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
    /// Inboxes and outboxes give an item once, on one of its paths: duplicates go before the filter of what counts.
    PathsOnce,
    /// Whom a block parts is shown as long as fan-outs of the source are under way.
    BlockLeavesPending,
    /// The jobs of fan-outs do not tell the kinds of their items: no rule is asked for pending items.
    PendingWithoutKind,
    /// Outboxes do not tell the kinds of items: no rule is asked for pulled items.
    PulledWithoutKind,
    /// The feed of changes does not tell of the follows that a block ends.
    PartedUntold,
    /// The approval of a follow outlasts it: the next follow has its notice again.
    ApprovalOutlasts,
    /// An item that is a comment on an item of a user, and mentions the user, has two notices for the user.
    MentionTwice,
    /// Notices do not tell that their items are for followers only.
    NoticesForAll,
}

/// All tables.
#[derive(Debug, Default)]
struct State {
    /// Includes deleted content.
    content: BTreeMap<ContentId, Content>,
    deleted: BTreeMap<ContentId, Millis>,
    /// The authors, places and other sources of purged items, unless the author was erased.
    purged: BTreeMap<ContentId, (UserId, Cursor, BTreeSet<UserId>)>,
    /// Item and source of paths that items were taken off.
    taken_off: BTreeMap<(ContentId, UserId), Millis>,
    /// Each subject with the items that ever referred to it.
    referring: BTreeSet<(ContentId, ContentId)>,
    outbox: BTreeMap<(UserId, Cursor), Entry>,
    /// Kinds of content that are not built in, in the order of their numbers.
    content_kinds: Vec<String>,
    /// How many there were before the present change.
    kinds_before: usize,
    /// The ids of topics that an item has ever named.
    topics: BTreeMap<String, TopicId>,
    /// Numbers of names.
    names: BTreeMap<String, u64>,
    /// The numbers of users whose names were erased with them.
    erased_names: BTreeSet<u64>,
    /// The highest number of a name.
    last_name: u64,
    /// Those names that the present change gave.
    new_names: Vec<String>,
    /// By user, place and source. Rows at or below the floor are ignored.
    inbox: BTreeMap<(UserId, Cursor, UserId), Entry>,
    floors: BTreeMap<UserId, Cursor>,
    graph: graph::Tables,
    /// The names of the kinds of reactions.
    kinds: ReactionKinds,
    /// Names with a byte in rows, which is their place.
    used_kinds: Vec<String>,
    /// Item, name of the kind and user to `since`; also of deleted items.
    reactions: BTreeMap<(ContentId, String, UserId), Millis>,
    activity: BTreeMap<UserId, Activity>,
    unpushed: BTreeMap<UserId, Unpushed>,
    /// How often an author came into `unpushed`.
    unpushed_version: u64,
    records: records::Tables,
    erasures: erasures::Tables,
    lists: user_lists::Tables,
    notices: notices::Tables,
    jobs: BTreeMap<JobId, (Work, Option<Progress>)>,
    /// By their numbers.
    logged: BTreeMap<u64, Logged>,
    /// Those of the present change.
    effects: Vec<Effect>,
    /// The number of the newest job ever made.
    last_job: u64,
    /// The notes of a node.
    notes: BTreeMap<String, Vec<u8>>,
    /// With [`Fault::InboxBeforePending`]: the floor and the rows of each inbox as they were.
    early: BTreeMap<UserId, (Option<Cursor>, Vec<Entry>)>,
    lane_per_job: bool,
    /// With [`Fault::BlockLeavesPending`]: follower and source of follows that a block ended.
    parted: BTreeSet<(UserId, UserId)>,
}

impl Upkeep for Double {
    fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        let state = self.state();
        let mut users = BTreeSet::new();
        users.extend(state.inbox.keys().map(|(user, ..)| *user));
        users.extend(state.floors.keys());
        users.extend(state.graph.users());
        users.extend(state.lists.listed());
        users.extend(state.notices.marked());
        users.extend(state.outbox.keys().map(|(source, _)| *source));
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
        inbox.retain(|(user, cursor, _), _| Some(cursor) > floors.get(user));
        Ok(())
    }

    // The rows are exact, and no bytes are on disk.
    fn stats(&self) -> Result<Vec<TableStats>> {
        let state = self.state();
        let own = [
            ("inboxes", state.inbox.len()),
            ("activity", state.activity.len()),
            ("unpushed", state.unpushed.len()),
            ("jobs", state.jobs.len()),
            ("replica", state.notes.len()),
        ];
        let mut rows: BTreeMap<_, _> =
            state.rows(Millis::MIN)?.into_iter().map(|(table, rows)| (table, rows.len())).collect();
        rows.extend(own);
        // Archives are empty.
        let of = |table| TableStats { table, rows: rows.get(table).copied().unwrap_or_default() as u64, bytes: 0 };
        Ok(digests::tables().map(of).collect())
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

// And there is no log.
impl Logs for Double {
    fn log_facts(&self) -> Result<LogFacts> {
        Err(Error::Storage("this store has no log".to_owned()))
    }

    fn read_log(&self, _: u64) -> Result<Box<dyn LogReader>> {
        Err(Error::Storage("this store has no log".to_owned()))
    }

    fn keep_log(&self, _: u64) -> bool {
        true
    }

    fn seal(&self) -> Result<u64> {
        Err(Error::Storage("this store has no log".to_owned()))
    }

    fn unseal(&self) {}
}

impl Store for Double {
    /// Each change is written at once.
    fn grouping(self: Arc<Self>) -> Arc<dyn Store> {
        self
    }

    fn written(self: Arc<Self>) -> Arc<dyn Store> {
        self
    }

    fn effects(&self) -> Vec<Effect> {
        std::mem::take(&mut self.state().effects)
    }

    fn end_change(&self, is_made: bool) {
        let state = &mut *self.state();
        let new = std::mem::take(&mut state.new_names);
        if is_made {
            state.kinds_before = state.content_kinds.len();
        } else {
            state.last_name -= new.len() as u64;
            new.iter().for_each(|name| _ = state.names.remove(name));
            state.content_kinds.truncate(state.kinds_before);
        }
    }

    fn fail_group(&self, _: Error) {}

    fn write_group(&self) -> Result<()> {
        Ok(())
    }
}

impl Double {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store with a fault.
    pub fn with(fault: Fault) -> Self {
        let notices = notices::Tables::with(fault);
        let state = State { lane_per_job: fault == Fault::LanePerJob, notices, ..State::default() };
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
    Scan { span, order, limit }: Scan<I>,
) -> Vec<T> {
    let mut found: Vec<T> = rows.filter(|row| span.contains(place(row))).collect();
    found.sort_by_key(&place);
    if order == Order::NewestFirst {
        found.reverse();
    }
    found.truncate(limit);
    found
}
