//! Arguments and results of the store, in addition to the model.

use std::sync::Arc;

use crate::error::{Code, Error, Result};
use crate::{
    Activity, CacheUsage, Content, ContentId, Entry, Fill, Job, JobId, MOST_KINDS, Millis, Progress, Relation, Rule,
    TopicId, UserId,
};

/// An item that is not purged, and the time of its deletion if it is deleted.
pub type Kept = (Content, Option<Millis>);

/// How far a read may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// To the disk, if necessary.
    Disk,
    /// Only to memory; short enough for a thread that must not block.
    Memory,
}

/// The effect on the other items of a publish call, if the id of one item is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// Nothing is written.
    AllOrNone,
    /// The others are written.
    Each,
}

/// The delivery of an item that becomes live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Push {
    /// It gets a fan-out job for each of its paths.
    Queued,
    /// It gets none. It counts as pushed to nobody ([`Unpushed`](crate::Unpushed)), in the same change.
    LeftOut,
}

/// The result for one item of a publish call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// Written, with its fan-out jobs: one for each path, unless they are left out.
    New(Vec<Job>),
    /// It was published before with the same body; the present content.
    Same(Content),
    /// The id belongs to another item, or to a deleted one.
    Taken,
}

impl Published {
    /// The fan-out jobs of a new item.
    pub fn jobs(&self) -> &[Job] {
        if let Self::New(jobs) = self { jobs } else { &[] }
    }
}

/// The time of the deletion of an item whose purge has begun: before any other, so that it cannot be restored.
pub const FINAL: Millis = 0;

/// Whether a deletion counts as made before a time.
pub fn is_deleted_before(deleted_at: Millis, time: Millis) -> bool {
    deleted_at == FINAL || deleted_at < time
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// The item is live again, with its new fan-out jobs.
    Now(Content, Vec<Job>),
    /// It was live already.
    Live(Content),
    /// There is no deletion that can be taken back.
    Gone,
}

/// A follow or unfollow by a user; also a member of a list that is added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The user to follow or unfollow.
    pub target: UserId,
    /// The time of the follow; `None` to unfollow.
    pub follow: Option<Millis>,
    /// The rule of the follow, `Some(None)` if it shows all kinds. `None` leaves the rule of a present follow, and a new one
    /// shows all kinds.
    pub rule: Option<Option<Rule>>,
    /// Whether the target has approved the follow.
    pub approval: Approval,
}

impl Change {
    /// A follow since a time, which is a request if the target approves its followers, or an unfollow (`None`). It leaves a
    /// present rule.
    #[inline]
    pub fn new(target: UserId, follow: Option<Millis>) -> Self {
        Self { target, follow, rule: None, approval: Approval::IfNeeded }
    }

    /// The rule afterwards, if `present` is the rule before.
    #[inline]
    pub fn rule_after(&self, present: Option<Rule>) -> Option<Rule> {
        self.follow.and(self.rule.unwrap_or(present))
    }
}

/// Whether a target has approved a follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// It has: the follow is made, and a request that waits is approved.
    Given,
    /// It was not asked: the follow is made, and a request that waits ends.
    Unasked,
    /// The follow is only a request if the target approves its followers.
    IfNeeded,
    /// The follow is only a request.
    Awaited,
}

/// The error for a user at the limit of follows.
pub fn too_many_follows(limit: usize) -> Error {
    Error::refused(Code::FollowLimit, format_args!("a user can follow at most {limit} users (graph.follow_limit)"))
}

/// The error for a user at the limit of lists.
pub fn too_many_lists(limit: usize) -> Error {
    Error::refused(Code::ListLimit, format_args!("a user can have at most {limit} lists"))
}

/// The error for a list at the limit of members.
pub fn too_many_members(limit: usize) -> Error {
    Error::refused(Code::MemberLimit, format_args!("a list can have at most {limit} members (graph.follow_limit)"))
}

/// The error for a kind of content for which there is no number left.
pub fn too_many_kinds(kind: &str) -> Error {
    Error::refused(
        Code::TooManyKinds,
        format_args!("kind: the server knows {MOST_KINDS} kinds already, and \"{kind}\" is none of them"),
    )
}

/// The result of one change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Related {
    /// The relation afterwards.
    pub relation: Relation,
    /// The settle job, if the pair changed.
    pub job: Option<Job>,
}

/// The result of a barrier that was raised or lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Barred {
    /// The relation afterwards.
    pub relation: Relation,
    /// The settle jobs of the follows that a block ended: of the user's follow, and of the target's.
    pub jobs: [Option<Job>; 2],
}

/// One step of a fan-out.
#[derive(Debug, Clone, Copy)]
pub struct Delivery<'a> {
    /// The job.
    pub job: JobId,
    /// The entry to put into the inboxes.
    pub entry: Entry,
    /// The owners of the inboxes.
    pub recipients: &'a [UserId],
    /// The record to make of the job.
    pub then: Then,
}

/// The record that a delivery makes of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Nothing: an earlier step is still under way.
    Nothing,
    /// All is delivered up to this place.
    Progress(Progress),
    /// The job is done.
    End,
}

/// The result of marking a user as seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// The activity afterwards.
    pub activity: Activity,
    /// The rebuild job, if the user was dormant or evicted.
    pub job: Option<Job>,
}

/// Recipients of a partial push.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// Users who get it, in the order given.
    pub active: Vec<UserId>,
    /// Users who have just become dormant, or evicted if they had no inbox yet.
    pub lapsed: Vec<UserId>,
}

/// Users who were not seen for long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Idle {
    /// Idle users, ascending.
    pub users: Vec<UserId>,
    /// The last user looked at; `None` if there are no more.
    pub next: Option<UserId>,
}

/// A copy of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The number of its format on disk.
    pub format: u32,
    /// The number of row changes in the store when the copy began.
    pub sequence: u64,
}

/// One table in figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStats {
    /// Its name, as in `docs/schema.md`.
    pub table: &'static str,
    /// The estimated number of rows.
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
    /// Memory for rows not yet in table files, bytes. Above the limit they are written out; the engine stops taking
    /// changes before the memory grows without bound.
    pub write_buffers: Fill,
    /// Most memory that such rows take while the device is slower than the changes, bytes.
    pub most_write_buffers: u64,
    /// Memory for changes of inboxes that are not written yet, bytes. Above the limit fan-outs wait.
    pub arrivals: Fill,
    /// The log on disk, bytes. Above the limit the oldest part is written out and dropped.
    pub log: Fill,
    /// The file system of the data directory, bytes.
    pub device: Fill,
    /// Caches, by their names.
    pub caches: Vec<(&'static str, CacheUsage)>,
    /// Damaged inboxes that were dropped.
    pub damaged_inboxes: u64,
    /// Rows of `unpushed` in memory.
    pub unpushed: Fill,
    /// Rows of `unpushed` that did not fit into memory when they were written.
    pub unpushed_left_out: u64,
    /// Users who get partial pushes, in memory.
    pub partial_push_recipients: Fill,
    /// How often such a user did not fit into memory.
    pub partial_push_recipients_left_out: u64,
    /// Filters over the keys of tables.
    pub filters: Vec<FilterUsage>,
    /// Whether changes are refused for now, because the device is full or the engine failed.
    pub writes_refused: bool,
    /// Whether the engine takes changes only after a restart.
    pub needs_restart: bool,
    /// Whether the engine takes no changes for now, because it cannot write out earlier ones.
    pub writes_stopped: bool,
    /// Failures in the engine's own threads.
    pub background_errors: u64,
    /// The engine's own work.
    pub engine: EngineUsage,
}

/// The engine's work in the background, and the waits of changes for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineUsage {
    /// Compactions that run.
    pub compactions: u64,
    /// Write buffers that are being written to table files.
    pub flushes: u64,
    /// Estimated bytes that compactions have yet to rewrite.
    pub compaction_debt: u64,
    /// Table files that no compaction has seen yet, of the table that has most of them. Too many slow changes down,
    /// and then stop them.
    pub fresh_files: u64,
    /// How often changes began to be slowed down.
    pub slowdowns: u64,
    /// How often changes began to be stopped.
    pub stops: u64,
    /// Bytes a second to which changes are slowed down now; 0 for no limit.
    pub slowed_to: u64,
}

/// A filter that tells for sure that a key is *not* in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterUsage {
    /// The kind of its keys.
    pub name: &'static str,
    /// Keys added, and the number it is sized for: above that it lets more absent keys pass, and answers stay right.
    pub keys: Fill,
    /// Its memory.
    pub bytes: u64,
    /// Whether it has all keys of the table. Until then it lets keys pass that a start has not come to yet.
    pub is_loaded: bool,
}

/// Callbacks for conditions that the store notices.
#[derive(Clone)]
pub struct Listeners {
    /// A deleted item was seen, with the time of the deletion. The item may have been purged or restored since. Must
    /// not block.
    pub deleted_item: Arc<dyn Fn(ContentId, Millis) + Send + Sync>,
    /// An outbox was seen with clearly more than the limit of entries. Must not block.
    pub oversized_outbox: Arc<dyn Fn(UserId) + Send + Sync>,
    /// A topic was seen with clearly more than the limit of items. Must not block.
    pub oversized_topic: Arc<dyn Fn(TopicId) + Send + Sync>,
}

impl Default for Listeners {
    /// Callbacks that do nothing.
    fn default() -> Self {
        Self {
            oversized_outbox: Arc::new(|_| {}),
            oversized_topic: Arc::new(|_| {}),
            deleted_item: Arc::new(|_, _| {}),
        }
    }
}

impl std::fmt::Debug for Listeners {
    #[inline]
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listeners")
    }
}

/// The receiver of the findings of an audit.
pub trait Watch {
    /// A disagreement, in one line.
    fn finds(&mut self, line: String);

    /// The number of rows looked at so far in the present walk over a table. An error ends the audit.
    fn looked_at(&mut self, table: &'static str, rows: u64) -> Result<()>;
}
