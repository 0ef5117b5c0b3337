//! What goes into and comes out of the store beside the model.

use std::sync::Arc;

use crate::error::{Code, Error};
use crate::model::{
    Activity, Barrier, CacheUsage, Content, ContentId, Cursor, Entry, Fill, Job, JobId, Millis, Progress, Relation,
    TopicId, UserId,
};

/// How far a read may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// To the disk, if need be.
    Disk,
    /// Only to what is in memory; short enough to run on a thread that must not block.
    Memory,
}

/// What happens to a publish call of which one item cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// Nothing is written.
    AllOrNone,
    /// The others are written.
    Each,
}

/// What became of one item of a publish call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// Written, with its fan-out job if it is broadcast.
    New(Option<Job>),
    /// It had been published before with the same body; the content as it stands now.
    Same(Content),
    /// The id belongs to another item, or to a deleted one.
    Taken,
}

/// An item that a publish call has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fresh {
    /// Its place in lists.
    pub cursor: Cursor,
    /// Its fan-out job, if it is broadcast.
    pub job: Option<Job>,
}

/// When an item was deleted whose purge has begun: before any time, so that nothing takes it back.
pub const FINAL: Millis = 0;

/// Whether a deletion counts as made before a time.
pub fn is_deleted_before(deleted_at: Millis, time: Millis) -> bool {
    deleted_at == FINAL || deleted_at < time
}

/// What became of a call that takes a deletion back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// The item is live again, with its new fan-out job if it is broadcast.
    Now(Content, Option<Job>),
    /// It was live all the time, or again already.
    Live(Content),
    /// There is none that could be taken back.
    Gone,
}

/// One wish of a user about a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Whom to follow or unfollow.
    pub target: UserId,
    /// Follow since then, or unfollow.
    pub follow: Option<Millis>,
}

/// Why a user raises no more barriers of a kind.
pub fn too_many(barrier: Barrier, limit: usize) -> Error {
    match barrier {
        Barrier::Mute => Error::refused(Code::MuteLimit, format_args!("a user mutes at most {limit} others")),
        Barrier::Hide => Error::refused(Code::HideLimit, format_args!("a user hides from at most {limit} others")),
    }
}

/// What became of one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Related {
    /// The relation afterwards.
    pub relation: Relation,
    /// The settle job, if the pair changed.
    pub job: Option<Job>,
}

/// One sub-task of a fan-out.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// Of which job.
    pub job: JobId,
    /// What to put into the inboxes.
    pub entry: Entry,
    /// Into whose.
    pub recipients: &'a [UserId],
    /// What to record of the job.
    pub then: Then,
}

/// What a delivery records of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Nothing: an earlier sub-task is still under way.
    Nothing,
    /// That all is done up to here.
    Progress(Progress),
    /// That the job is done.
    End,
}

/// What [`Store::touch`](super::Store::touch) did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// The activity afterwards.
    pub activity: Activity,
    /// The rebuild job, if the user had been dormant.
    pub job: Option<Job>,
}

/// Recipients of a partial push.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// Those who get it, in the order given.
    pub active: Vec<UserId>,
    /// Those who were active until now and have just become dormant.
    pub lapsed: Vec<UserId>,
}

/// What [`Store::idle`](super::Store::idle) found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Idle {
    /// Idle users, ascending.
    pub users: Vec<UserId>,
    /// The last user that was looked at; `None` if there are no more.
    pub next: Option<UserId>,
}

/// One table in figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStats {
    /// Its name, as in `docs/schema.md`.
    pub table: &'static str,
    /// About how many rows.
    pub rows: u64,
    /// Bytes on disk and in write buffers.
    pub bytes: u64,
}

/// A store in figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Every table.
    pub tables: Vec<TableStats>,
    /// Memory for blocks read from disk, bytes.
    pub block_cache: Fill,
    /// Memory for rows not yet in table files, bytes. Above the limit it is written out; the engine
    /// takes no more changes before it gets out of hand.
    pub write_buffers: Fill,
    /// The log on disk, bytes. Above the limit the oldest part is written out and dropped.
    pub log: Fill,
    /// Activities in memory.
    pub activities: CacheUsage,
    /// Names of topics in memory.
    pub topic_names: CacheUsage,
    /// Ends of lists of topics in memory.
    pub topic_ends: CacheUsage,
    /// Rows of `unpushed` in memory.
    pub unpushed: Fill,
    /// Rows of `unpushed` that were written and did not fit.
    pub unpushed_left_out: u64,
    /// Filters that know which keys a table has.
    pub filters: Vec<FilterUsage>,
    /// Whether changes are refused for now, because the device is full or the engine failed.
    pub writes_refused: bool,
    /// Whether the engine has stopped for good, and takes changes only after a restart.
    pub needs_restart: bool,
    /// Whether the engine takes no changes for now, because it cannot write out the earlier ones.
    pub writes_stopped: bool,
    /// What failed in the engine's own threads.
    pub background_errors: u64,
}

/// A filter that knows for sure that a key is *not* there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterUsage {
    /// What it knows the keys of.
    pub name: &'static str,
    /// Keys added, and for how many it has its size: above that it errs more often, on the safe side.
    pub keys: Fill,
    /// Its memory.
    pub bytes: u64,
}

/// Whom the store tells what it notices on the way.
#[derive(Clone)]
pub struct Listeners {
    /// An inbox was seen with clearly more than the limit of entries. Must not block.
    pub oversized_inbox: Arc<dyn Fn(UserId) + Send + Sync>,
    /// A deleted item was seen, and when it was deleted; at times one that was purged or taken back since.
    /// Must not block.
    pub deleted_item: Arc<dyn Fn(ContentId, Millis) + Send + Sync>,
    /// An outbox was seen with clearly more than the limit of entries. Must not block.
    pub oversized_outbox: Arc<dyn Fn(UserId) + Send + Sync>,
    /// A topic was seen with clearly more than the limit of items. Must not block.
    pub oversized_topic: Arc<dyn Fn(TopicId) + Send + Sync>,
}

impl Default for Listeners {
    /// Nobody.
    fn default() -> Self {
        Self {
            oversized_inbox: Arc::new(|_| {}),
            oversized_outbox: Arc::new(|_| {}),
            oversized_topic: Arc::new(|_| {}),
            deleted_item: Arc::new(|_, _| {}),
        }
    }
}

impl std::fmt::Debug for Listeners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listeners")
    }
}

/// Who is told what [`Store::audit`](super::Store::audit) finds.
pub trait Watch {
    /// Something disagrees; one line.
    fn finds(&mut self, line: String);

    /// So many rows of a table have been looked at in the walk over it that goes on now.
    fn looked_at(&mut self, table: &'static str, rows: u64);
}
