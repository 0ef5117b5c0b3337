//! Entries that come into inboxes and leave them: by fan-outs, settles and rebuilds.

use std::collections::HashSet;

use super::activity::{activity, write_activity};
use super::damage::drop_if_damaged;
use super::jobs::drop_job;
use super::rows::{floor, put_inbox, read_inbox, write_removals};
use super::unpushed::put_unpushed;
use crate::items;
use crate::rows::inbox::merge::{Change, Step};
use crate::rows::inbox::packed;
use crate::rows::tables::{FOLLOWING, JOBS};
use crate::rows::values::Value;
use crate::rows::walk::with_row;
use crate::store::Store;
use kv::{Tier, WriteBatch};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::{Cursor, Entry, Job, JobId, Progress, Reach, Span, UserId, Work};

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

/// Records the reach of an item before the first recipient is chosen, and for a reach short of all the author's
/// [`Unpushed`](model::Unpushed).
pub fn begin_fan_out(store: &Store, job: JobId, entry: Entry, reach: Reach) -> Result<()> {
    let mut batch = WriteBatch::default();
    let progress = Some(Progress { reach, done_to: None });
    JOBS.put(&mut batch, job, &Job { id: job, work: Work::FanOut { entry }, progress })?;
    let _turns = put_unpushed(store, &mut batch, &[entry], reach)?;
    store.follow_up(Write::BeginFanOut, batch)
}

/// Puts an entry into inboxes and records the job's progress or end. Reads see the entry at once. On disk, the
/// record of a job never comes before the entries; both may come much later.
pub fn deliver(store: &Store, delivery: &Delivery<'_>) -> Result<()> {
    store.memory.inboxes.make_room(store)?;
    let deep = store.memory.inboxes.arrivals.add(delivery.recipients, Step::Add(delivery.entry));
    if !deep.is_empty() {
        store.memory.inboxes.write_alone(store, deep.into_iter().map(|user| (user, Change::default())).collect())?;
    }
    match delivery.then {
        Then::Nothing => {}
        Then::Progress(progress) => {
            let work = Work::FanOut { entry: delivery.entry };
            let job = Job { id: delivery.job, work, progress: Some(progress) };
            store.memory.inboxes.arrivals.record(delivery.job, Some(job.bytes()?));
        }
        Then::End => store.memory.inboxes.arrivals.record(delivery.job, None),
    }
    Ok(())
}

/// Makes a user's entries of one source agree with the present relation, and ends the job, like
/// [`deliver`]. A follower gets the source's newest `room` entries above the floor; if there are more, the
/// floor rises to the first one left out. A user who does not follow loses all entries. Returns how many entries
/// above the floor changed.
pub fn settle(store: &Store, job: JobId, user: UserId, source: UserId, room: usize) -> Result<usize> {
    store.memory.inboxes.make_room(store)?;
    // A rebuild comes before the look at the outbox, or after the steps.
    let _user = store.memory.inboxes.change(user);
    let mut found = read_inbox(store, user, Tier::Disk)?.entries_of(source);
    if found.is_none() {
        drop_if_damaged(store, user, None)?;
        found = read_inbox(store, user, Tier::Disk)?.entries_of(source);
    }
    let (floor, present) = found.ok_or_else(|| Error::Corrupt(format!("the inbox of user {user}")))?;
    let following = FOLLOWING.has(store.now(Tier::Disk), (user, source))?;
    let (mut wanted, mut new_floor) = (Vec::new(), None);
    if following {
        let span = Span::ALL.newer_than(floor);
        wanted = items::tables::outboxes(store, &[source], span.newest(room.saturating_add(1)), Tier::Disk)?;
        new_floor = wanted.get(room).map(|entry| entry.cursor);
        wanted.truncate(room);
    }
    let wanted: HashSet<_> = wanted.into_iter().collect();
    let added = wanted.difference(&present).map(|entry| Step::Add(*entry));
    let removed = present.difference(&wanted).map(|entry| Step::Remove(packed::place(entry)));
    let above = floor.max(new_floor);
    let changed = wanted.symmetric_difference(&present).filter(|entry| Some(entry.cursor) > above).count();
    // Also the floor that was read: a merge may have raised it for this read only, and the next one may keep it
    // lower, because entries are removed now.
    store.memory.inboxes.add_change(store, user, Change::of(above, added.chain(removed).collect()))?;
    store.memory.inboxes.arrivals.record(job, None);
    Ok(changed)
}

/// Removes all entries of an author from an inbox, on whatever paths they came.
pub(crate) fn forget_author(store: &Store, user: UserId, author: UserId) -> Result<()> {
    store.memory.inboxes.make_room(store)?;
    let _user = store.memory.inboxes.change(user);
    let inbox = read_inbox(store, user, Tier::Disk)?;
    let (floor, entries) = inbox.contents();
    let mut removed = Vec::new();
    for entry in entries {
        // A damaged inbox is dropped as a whole.
        let Ok(entry) = entry else { return Ok(()) };
        if entry.author == author {
            removed.push(Step::Remove(packed::place(&entry)));
        }
    }
    if !removed.is_empty() {
        store.memory.inboxes.add_change(store, user, Change::of(floor, removed))?;
    }
    Ok(())
}

/// Rebuilds an inbox, in one change: puts in the newest `room` entries of the outboxes of those of `authors` whom
/// the user follows, as far as they lie above the floor, makes the user active, and removes the job. If there are more
/// entries, the floor rises to the first one left out. If the user is not returning because of this job, only
/// removes it: the user has been dormant again, and `authors` may be out of date. No follow or unfollow of the user
/// takes effect meanwhile. Returns how many entries were put in, or were there already.
pub fn rebuild(store: &Store, job: JobId, user: UserId, authors: &[UserId], room: usize) -> Result<usize> {
    // An unfollow comes before the look at the follows, or after the entries: then its settle job removes them.
    let _user = store.memory.inboxes.change(user);
    drop_if_damaged(store, user, None)?;
    write_removals(store, user)?;
    let (floor, newest) = match activity(store, user, Tier::Disk)?.rebuilt(job) {
        Some(_) => newest_of(store, user, authors, room.saturating_add(1))?,
        None => (None, Vec::new()),
    };
    let _lock = store.memory.loaded.change_activity(user);
    let mut batch = WriteBatch::default();
    JOBS.delete(&mut batch, job);
    let Some(rebuilt) = activity(store, user, Tier::Disk)?.rebuilt(job) else {
        drop_job(store, job)?;
        return Ok(0);
    };
    let (kept, left_out) = newest.split_at(room.min(newest.len()));
    // Also the floor that was read, as in a settle.
    let floor = floor.max(left_out.first().map(|entry| entry.cursor));
    put_inbox(&mut batch, user, floor, kept);
    write_activity(store, Write::Rebuild, batch, user, rebuilt)?;
    Ok(kept.len())
}

/// The newest `most` entries that an inbox may have above its floor, of those of `authors` whom its user follows.
fn newest_of(store: &Store, user: UserId, authors: &[UserId], most: usize) -> Result<(Option<Cursor>, Vec<Entry>)> {
    let followed = with_row(store.now(Tier::Disk), &FOLLOWING, user, authors.to_vec(), true)?;
    let floor = floor(store, user)?;
    let newest = items::tables::outboxes(store, &followed, Span::ALL.newer_than(floor).newest(most), Tier::Disk)?;
    Ok((floor, newest))
}
