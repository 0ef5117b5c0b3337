//! The store in memory, with a turn for the others before and after each call, and, where a test
//! wants it, a call done wrongly.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use shuttle::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;
use crate::model::{
    Activity, Barrier, Content, ContentId, Cursor, Edit, Entry, Event, ItemCounts, Job, JobId, LANES, Lane, Millis,
    Moment, Order, Profile, Publish, Reach, Reacted, Reaction, ReactionKind, ReactionPlace, Reactions, Relation, Side,
    Span, Stamp, TopicId, Unpushed, UserCounts, UserCursor, UserId,
};
use crate::world::Wrong;

pub(crate) use tideline::store::{
    Batch, Change, Delivery, Fresh, Published, Related, Restored, Split, Then, Tier, Touched,
};

/// The rows of an inbox, newest first, and its floor.
type Inbox = (Vec<Entry>, Option<Cursor>);

// The threads of one execution are all run by one thread of the system.
thread_local!(static EARLY: RefCell<HashMap<UserId, Inbox>> = RefCell::default());

/// What the sources name as `crate::store::Store`.
#[derive(Debug)]
pub(crate) struct Store {
    inner: tideline::store::Store,
    turns: AtomicU64,
    wrong: Wrong,
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        $(pub(crate) fn $name(&self, $($arg: $type),*) -> Result<$result> {
            self.turn();
            let result = self.inner.$name($($arg),*);
            self.turn();
            result
        })*
    };
}

impl Store {
    pub(crate) fn new(wrong: Wrong) -> Self {
        EARLY.take();
        let inner = tideline::store::Store::Memory(tideline::store::memory::Memory::new());
        Self { inner, turns: AtomicU64::new(0), wrong }
    }

    /// A place where another thread may come in.
    fn turn(&self) {
        self.turns.fetch_add(1, Ordering::SeqCst);
    }

    forward! {
        edit(id: ContentId, edit: &Edit, moment: Moment) -> Option<Content>;
        delete(id: ContentId, moment: Moment) -> bool;
        events(from: u64, limit: usize) -> Vec<Event>;
        newest_events(limit: usize) -> Vec<Event>;
        trim_events(from: u64) -> ();
        begin_run(gap: Option<Event>) -> ();
        has_content() -> bool;
        purge(id: ContentId, deleted_before: Millis) -> bool;
        purge_reactions(id: ContentId, deleted_before: Millis, most: usize, after: Option<ReactionPlace>) -> Vec<ReactionPlace>;
        contents(ids: &[ContentId], tier: Tier) -> Vec<Option<Content>>;
        item_counts(ids: &[ContentId], tier: Tier) -> Vec<ItemCounts>;
        deleted(ids: &[ContentId], tier: Tier) -> Vec<bool>;
        outboxes(authors: &[UserId], span: Span<ContentId>, order: Order, limit: usize, tier: Tier) -> Vec<Entry>;
        topic(name: &str, tier: Tier) -> Option<TopicId>;
        topic_content(topic: TopicId, span: Span<ContentId>, order: Order, limit: usize, depth: usize, tier: Tier) -> Vec<Entry>;
        comments(subject: ContentId, span: Span<ContentId>, order: Order, limit: usize, tier: Tier) -> Vec<Entry>;
        user_comments(author: UserId, span: Span<ContentId>, order: Order, limit: usize, tier: Tier) -> Vec<Entry>;
        relations(user: UserId, targets: &[UserId], tier: Tier) -> Vec<Relation>;
        followees(user: UserId, tier: Tier) -> Vec<UserId>;
        authors(reader: UserId, tier: Tier) -> Vec<UserId>;
        authors_among(reader: UserId, users: &[UserId], tier: Tier) -> Vec<UserId>;
        set_barrier(user: UserId, target: UserId, barrier: Barrier, since: Option<Millis>, limit: usize) -> Relation;
        members(user: UserId, side: Side, span: Span<UserId>, order: Order, limit: usize, tier: Tier) -> Vec<UserCursor>;
        reacted(user: UserId, ids: &[ContentId], tier: Tier) -> Vec<Reactions>;
        reacted_to(id: ContentId, users: &[UserId], tier: Tier) -> Vec<Reactions>;
        react(id: ContentId, wishes: &[Reaction]) -> Vec<Reacted>;
        reactors(id: ContentId, kind: ReactionKind, span: Span<UserId>, order: Order, limit: usize, tier: Tier) -> Vec<UserCursor>;
        reacted_by(user: UserId, kind: ReactionKind, span: Span<ContentId>, order: Order, limit: usize, tier: Tier) -> Vec<Entry>;
        followers_after(author: UserId, after: Option<UserId>, limit: usize) -> Vec<UserId>;
        follower_count(author: UserId) -> u64;
        user_counts(user: UserId, tier: Tier) -> UserCounts;
        put_profile(user: UserId, profile: &Profile) -> ();
        put_profiles(profiles: &[(UserId, Profile)]) -> ();
        profiles(users: &[UserId], tier: Tier) -> Vec<Option<Profile>>;
        begin_fan_out(job: JobId, entry: Entry, reach: Reach) -> ();
        deliver(delivery: &Delivery<'_>) -> ();
        settle(job: JobId, user: UserId, author: UserId, room: usize) -> usize;
        drop_job(job: JobId) -> ();
        meet(user: UserId, now: Millis) -> ();
        touch(user: UserId, now: Millis) -> Touched;
        not_evicted(users: Vec<UserId>) -> Vec<UserId>;
        evict(user: UserId, seen_before: Millis, floor: Cursor) -> bool;
        rebuild(job: JobId, user: UserId, authors: &[UserId]) -> Vec<Job>;
        marker(user: UserId, tier: Tier) -> Option<Cursor>;
        move_marker(user: UserId, place: Cursor) -> Cursor;
        settle_marker(user: UserId, present: Cursor, place: Option<Cursor>) -> Option<Cursor>;
        unpushed(author: UserId, tier: Tier) -> Unpushed;
        lacking(authors: &[UserId], floor: Option<Cursor>, active: bool, tier: Tier) -> Vec<UserId>;
    }

    pub(crate) fn publish(
        &self,
        items: &[Publish],
        batch: Batch,
        fresh: &mut dyn FnMut(Fresh),
    ) -> Result<Vec<Published>> {
        self.turn();
        // The store in memory holds its own lock while it tells of new items: nobody may get a turn then.
        if self.wrong == Wrong::ToldBeforeWritten {
            for item in items {
                fresh(Fresh { cursor: item.content.cursor(), job: None });
            }
            self.turn();
        }
        let mut all = Vec::new();
        let published = self.inner.publish(items, batch, &mut |one| all.push(one))?;
        all.into_iter().for_each(|one| fresh(Fresh { job: one.job.map(|job| self.in_lane(job)), ..one }));
        self.turn();
        Ok(published)
    }

    pub(crate) fn restore(
        &self,
        id: ContentId,
        deleted_since: Millis,
        stamp: Option<Stamp>,
        queue: &mut dyn FnMut(Job),
    ) -> Result<Restored> {
        self.turn();
        let mut jobs = Vec::new();
        let restored = self.inner.restore(id, deleted_since, stamp, &mut |job| jobs.push(job))?;
        jobs.into_iter().for_each(|job| queue(self.in_lane(job)));
        self.turn();
        Ok(restored)
    }

    pub(crate) fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>> {
        self.turn();
        let mut related = self.inner.relate(user, changes, follow_limit)?;
        self.turn();
        for one in &mut related {
            one.job = one.job.map(|job| self.in_lane(job));
        }
        Ok(related)
    }

    pub(crate) fn is_set_back(&self) -> bool {
        self.inner.is_set_back()
    }

    fn in_lane(&self, job: Job) -> Job {
        let lane = match self.wrong {
            Wrong::LanePerJob => Lane::new((job.id.seq % u64::from(LANES)) as u16).expect("a lane"),
            _ => job.id.lane,
        };
        Job { id: JobId { lane, ..job.id }, ..job }
    }

    /// The first thing that a read asks for.
    pub(crate) fn activity(&self, user: UserId, tier: Tier) -> Result<Activity> {
        self.turn();
        if self.wrong == Wrong::InboxBeforePending {
            let mut rows = Vec::new();
            let floor = self.inner.inbox(user, Span::ALL, Order::NewestFirst, tier, &mut |entry| {
                rows.push(entry);
                ControlFlow::Continue(())
            })?;
            EARLY.with_borrow_mut(|early| early.insert(user, (rows, floor)));
        }
        let activity = self.inner.activity(user, tier);
        self.turn();
        activity
    }

    pub(crate) fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        tier: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>> {
        self.turn();
        let early = EARLY.with_borrow(|early| early.get(&user).cloned());
        let Some((mut rows, floor)) = early.filter(|_| self.wrong == Wrong::InboxBeforePending) else {
            let floor = self.inner.inbox(user, span, order, tier, visit);
            self.turn();
            return floor;
        };
        if order == Order::OldestFirst {
            rows.reverse();
        }
        let _ = rows.into_iter().filter(|entry| span.contains(entry.cursor)).try_for_each(visit);
        Ok(floor)
    }

    pub(crate) fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        self.turn();
        let mut split = self.inner.split_active(users, seen_since)?;
        if self.wrong == Wrong::ReturningSkipped {
            let is_active = |user: &UserId| self.inner.activity(*user, Tier::Disk).is_ok_and(Activity::is_active);
            split.active.retain(is_active);
        }
        self.turn();
        Ok(split)
    }
}
