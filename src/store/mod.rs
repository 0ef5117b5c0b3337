//! The storage contract: operations of the domain, each with its atomicity stated.
//!
//! Two implementations stand behind it: [`rocks`] keeps everything in one RocksDB directory,
//! [`memory`] is the plain model that tests compare it with. Every table is thought of as a
//! partition (a user, an item, a lane) with ordered rows inside, and no operation needs an order
//! across partitions.
//!
//! # What holds for every method
//!
//! - A write is one atomic change: a reader, and a restart after a crash, sees all of it or none.
//! - Writes become durable in the order in which they were made; a crash loses only a tail of them.
//!   A method that *acknowledges* returns once its change is as durable as the settings ask;
//!   the others are durable no later than the next write that acknowledges.
//! - Reads see every write that had returned before they began.
//! - A read with [`Tier::Memory`] fails with [`Error::NotCached`](crate::error::Error::NotCached)
//!   instead of touching the disk.

pub mod memory;
pub mod rocks;
mod types;

use std::ops::ControlFlow;

use crate::error::Result;
use crate::model::{
    Activity, Content, ContentId, Cursor, Edit, Entry, Job, JobId, Millis, Order, Publish, Reach, Relation, Side, Span,
    Unpushed, UserCursor, UserId,
};

pub use types::{
    Batch, Change, Delivery, FilterUsage, Idle, Listeners, Published, Related, Split, TableStats, Then, Tier, Touched,
    Usage,
};

/// A store, one of the two kinds.
#[derive(Debug)]
pub enum Store {
    /// On disk.
    Rocks(rocks::Rocks),
    /// In memory, for tests.
    Memory(memory::Memory),
}

macro_rules! dispatch {
    ($self:ident, $store:ident => $call:expr) => {
        match $self {
            Store::Rocks($store) => $call,
            Store::Memory($store) => $call,
        }
    };
}

/// Content.
impl Store {
    /// Publishes items. For each new one: its content, its outbox row and its fan-out job in one
    /// change (the last two only if it is broadcast). An item whose id was given and exists is `Same` when it
    /// was published with the same fingerprint (and time, if given) and is not deleted, else
    /// `Taken`. With [`Batch::AllOrNone`] nothing is written if any is `Taken`.
    /// All new items of a call are one atomic change. Two publishes of one id never both win.
    /// Ids within one call must differ. Acknowledges.
    pub fn publish(&self, items: &[Publish], batch: Batch) -> Result<Vec<Published>> {
        dispatch!(self, s => s.publish(items, batch))
    }

    /// Changes an item and returns its new state; `None` if it is not there or deleted.
    /// Concurrent edits of one item apply one after the other. Acknowledges.
    pub fn edit(&self, id: ContentId, edit: &Edit, now: Millis) -> Result<Option<Content>> {
        dispatch!(self, s => s.edit(id, edit, now))
    }

    /// Deletes an item: marks the content, drops its outbox row and records the deletion, in one
    /// change. Inbox rows stay and are ignored. False if it is not there or deleted already.
    /// Acknowledges.
    pub fn delete(&self, id: ContentId, now: Millis) -> Result<bool> {
        dispatch!(self, s => s.delete(id, now))
    }

    /// The live items among `ids`, in their order; `None` for missing and deleted ones.
    pub fn contents(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<Option<Content>>> {
        dispatch!(self, s => s.contents(ids, tier))
    }

    /// Which of `ids` are deleted, in their order. Nearly free where none is.
    pub fn deleted(&self, ids: &[ContentId], tier: Tier) -> Result<Vec<bool>> {
        dispatch!(self, s => s.deleted(ids, tier))
    }

    /// Moves entries of an outbox to where many of them take little room, oldest first, up to and
    /// including `newest`, at most `most` in one call and one change. Returns how many were moved;
    /// none where there is nothing to gain. No answer depends on it.
    pub fn archive_outbox(&self, author: UserId, newest: Cursor, most: usize) -> Result<usize> {
        dispatch!(self, s => s.archive_outbox(author, newest, most))
    }

    /// The first `limit` entries in the outboxes of `authors` taken together, in `order`.
    /// Costs one seek an author and then only entries that are among the first so far.
    pub fn outboxes(
        &self,
        authors: &[UserId],
        span: Span<ContentId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<Entry>> {
        dispatch!(self, s => s.outboxes(authors, span, order, limit, tier))
    }
}

/// The follow graph.
impl Store {
    /// Applies follows and unfollows of one user. For each pair that changes: the relation in both
    /// directions, the counts, the friends rows and a settle job, all pairs in one change. A pair
    /// that already is as asked keeps its `since` and makes no job. Targets must differ from each
    /// other and from the user. Refused with `follow_limit` and nothing written when the user
    /// would follow more than `follow_limit` afterwards and more than before. Acknowledges.
    pub fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>> {
        dispatch!(self, s => s.relate(user, changes, follow_limit))
    }

    /// The relations of a user to `targets`, in their order.
    pub fn relations(&self, user: UserId, targets: &[UserId], tier: Tier) -> Result<Vec<Relation>> {
        dispatch!(self, s => s.relations(user, targets, tier))
    }

    /// All whom a user follows, ascending.
    pub fn followees(&self, user: UserId, tier: Tier) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.followees(user, tier))
    }

    /// The first `limit` users of one side of the graph within `span`, in `order` of `since`.
    pub fn members(
        &self,
        user: UserId,
        side: Side,
        span: Span<UserId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<UserCursor>> {
        dispatch!(self, s => s.members(user, side, span, order, limit, tier))
    }

    /// Up to `limit` followers with ids above `after`, ascending.
    pub fn followers_after(&self, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.followers_after(author, after, limit))
    }

    /// How many follow the author.
    pub fn follower_count(&self, author: UserId) -> Result<u64> {
        dispatch!(self, s => s.follower_count(author))
    }
}

/// Inboxes and fan-out. The caller runs the jobs of one lane one after the other, except
/// [`Store::deliver`] for different recipients of one job.
impl Store {
    /// Walks an inbox above its floor within `span`, in `order`, until `visit` breaks.
    /// Returns the floor: at or below it the inbox makes no claim; `None` means that it is complete
    /// to its end. Floor and rows are of one instant.
    pub fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        tier: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>> {
        dispatch!(self, s => s.inbox(user, span, order, tier, visit))
    }

    /// Raises the floor of an inbox; a lower floor than the present one changes nothing.
    pub fn raise_floor(&self, user: UserId, floor: Cursor) -> Result<()> {
        dispatch!(self, s => s.raise_floor(user, floor))
    }

    /// Records who will get an item, before the first recipient is chosen, and with it the
    /// author's [`Unpushed`] for a reach short of all.
    pub fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()> {
        dispatch!(self, s => s.begin_fan_out(job, entry, reach))
    }

    /// Puts an entry into inboxes, with the job's progress or its end, in one change.
    pub fn deliver(&self, delivery: &Delivery<'_>) -> Result<()> {
        dispatch!(self, s => s.deliver(delivery))
    }

    /// Makes a user's entries of one author agree with the present relation, and ends the job, in
    /// one change. A follower gets the author's newest `room` entries above the floor; if there are
    /// more, the floor rises to the first that was left out. Who does not follow loses them all.
    /// Returns how many rows above the floor changed.
    pub fn settle(&self, job: JobId, user: UserId, author: UserId, room: usize) -> Result<usize> {
        dispatch!(self, s => s.settle(job, user, author, room))
    }

    /// Ends a job that has nothing left to do.
    pub fn drop_job(&self, job: JobId) -> Result<()> {
        dispatch!(self, s => s.drop_job(job))
    }

    /// All jobs on disk, by lane, then oldest first.
    pub fn jobs(&self) -> Result<Vec<Job>> {
        dispatch!(self, s => s.jobs())
    }
}

/// Users' activity and authors' unpushed items.
impl Store {
    /// What is known of a user's activity.
    pub fn activity(&self, user: UserId, tier: Tier) -> Result<Activity> {
        dispatch!(self, s => s.activity(user, tier))
    }

    /// Notes when a user was first heard of, unless something is known already. From then on the
    /// user counts as idle; see [`Store::idle`].
    pub fn meet(&self, user: UserId, now: Millis) -> Result<()> {
        dispatch!(self, s => s.meet(user, now))
    }

    /// Marks a user as seen. One who was dormant or evicted becomes returning, with a rebuild job in
    /// the same change. Two calls for one user apply one after the other, also against
    /// [`Store::split_active`] and [`Store::evict`].
    pub fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
        dispatch!(self, s => s.touch(user, now))
    }

    /// Splits off the users that get partial pushes, and makes dormant those of them that were last
    /// seen before `seen_since`. The new state is visible before this returns.
    pub fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        dispatch!(self, s => s.split_active(users, seen_since))
    }

    /// Leaves out the evicted. Nearly free where nobody is.
    pub fn not_evicted(&self, users: Vec<UserId>) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.not_evicted(users))
    }

    /// Looks through the next `limit` users above `after` for those who have an inbox and were last
    /// seen, or first heard of, before `seen_before`.
    pub fn idle(&self, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle> {
        dispatch!(self, s => s.idle(after, limit, seen_before))
    }

    /// Drops the inbox of a user last seen before `seen_before`: evicted, and the floor raised to
    /// `floor`, in one change. False, and nothing changed, if the user was seen since or has none.
    pub fn evict(&self, user: UserId, seen_before: Millis, floor: Cursor) -> Result<bool> {
        dispatch!(self, s => s.evict(user, seen_before, floor))
    }

    /// Ends a rebuild: a settle job for each of `authors`, the user active, the rebuild job gone, in
    /// one change. Does only the last if it is not this job for which the user is returning: the
    /// user has been dormant again, and `authors` may be out of date. Returns the new jobs.
    pub fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId]) -> Result<Vec<Job>> {
        dispatch!(self, s => s.rebuild(job, user, authors))
    }

    /// The author's newest items that did not reach every follower.
    pub fn unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        dispatch!(self, s => s.unpushed(author, tier))
    }

    /// Those of `authors` of whom an inbox with this floor may lack something above it; see
    /// [`Unpushed::leaves_gaps`]. Nearly free for authors who have nothing unpushed. In any order.
    pub fn lacking(&self, authors: &[UserId], floor: Option<Cursor>, active: bool, tier: Tier) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.lacking(authors, floor, active, tier))
    }
}

/// Looking after the whole.
impl Store {
    /// Users with an inbox, a followee or a follower and ids above `after`, ascending, up to `limit`.
    pub fn users_after(&self, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>> {
        dispatch!(self, s => s.users_after(after, limit))
    }

    /// Makes every write so far durable, whatever the settings say.
    pub fn sync(&self) -> Result<()> {
        dispatch!(self, s => s.sync())
    }

    /// Rewrites all tables, which drops what is deleted or below a floor.
    pub fn compact(&self) -> Result<()> {
        dispatch!(self, s => s.compact())
    }

    /// Rows and bytes of each table, as far as the engine knows without counting.
    pub fn stats(&self) -> Result<Vec<TableStats>> {
        dispatch!(self, s => s.stats())
    }

    /// What memory and disk the store takes, with [`Store::stats`]. May look at the disk.
    pub fn usage(&self) -> Result<Usage> {
        dispatch!(self, s => s.usage())
    }
}

const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Store>();
};
