//! Users' activity.

use std::collections::HashSet;

use super::jobs::put_job;
use super::rows::put_inbox;
use crate::memory::user_rows::Known;
use crate::rows::keys;
use crate::rows::tables::ACTIVITY;
use crate::rows::values::Value;
use crate::store::Store;
use kv::{Scope, Tier, WriteBatch};
use model::error::Result;
use model::failpoint::Write;
use model::{Activity, Cursor, Job, Millis, UserId, Work};

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

/// The activity of a user.
pub fn activity(store: &Store, user: UserId, tier: Tier) -> Result<Activity> {
    store.memory.inboxes.activities.get(user, || Ok(ACTIVITY.get(store.now(tier), user)?.unwrap_or_default()))
}

/// Records the time of a new user's first appearance, unless the user has an activity already. From that time on
/// the user counts as idle; see [`idle`].
pub fn meet(store: &Store, user: UserId, now: Millis) -> Result<()> {
    write_first(store, user, Activity::Dormant { seen: Some(now) })
}

/// Records that a new user has no inbox here, unless the user has an activity already: the user counts as evicted.
pub fn keep_no_inbox(store: &Store, user: UserId) -> Result<()> {
    write_first(store, user, Activity::Evicted)
}

/// Marks a user as seen. A dormant or evicted user becomes returning, with a rebuild job in the same change. Calls
/// for one user apply one after the other, also with [`split_active`] and [`evict`].
pub fn touch(store: &Store, user: UserId, now: Millis) -> Result<Touched> {
    // A reader can do without this: at most some wait for a device that stalls, and none once the stall is known.
    let _turn = store.disk().ok().map(|disk| disk.health.begin_optional()).transpose()?;
    let _lock = store.memory.loaded.change_activity(user);
    let mut batch = WriteBatch::default();
    let present = activity(store, user, Tier::Disk)?;
    let (activity, job) = match present.seen_again(now) {
        Some(activity) => (activity, None),
        None => {
            let job = put_job(store, &mut batch, Work::Rebuild { user })?;
            (present.returned(now, job.id), Some(job))
        }
    };
    write_activity(store, Write::Touch, batch, user, activity)?;
    Ok(Touched { activity, job })
}

/// Selects the users that get partial pushes. Those last seen before `seen_since` become dormant instead; the new
/// state is visible before this returns.
pub fn split_active(store: &Store, users: &[UserId], seen_since: Millis) -> Result<Split> {
    let mut split = Split::default();
    for (user, seen) in users.iter().zip(last_seen(store, users)?) {
        match seen {
            Some(seen) if seen >= seen_since => split.active.push(*user),
            Some(_) => {
                // A read may have marked the user as seen meanwhile, so look again under the lock.
                let _lock = store.memory.loaded.change_activity(*user);
                let activity = activity(store, *user, Tier::Disk)?;
                if let Some(lapsed) = activity.lapsed(seen_since) {
                    write_activity(store, Write::Lapse, WriteBatch::default(), *user, lapsed)?;
                    split.lapsed.push(*user);
                } else if activity.seen().is_some() {
                    split.active.push(*user);
                }
            }
            None => {}
        }
    }
    Ok(split)
}

/// Leaves out evicted users. Costs next to nothing if there are none.
pub fn not_evicted(store: &Store, users: Vec<UserId>) -> Result<Vec<UserId>> {
    let maybe: Vec<_> =
        users.iter().copied().filter(|user| store.memory.loaded.filter(&ACTIVITY).may_have(user.get())).collect();
    if maybe.is_empty() {
        return Ok(users);
    }
    let rows = ACTIVITY.get_many(store.now(Tier::Disk), &maybe)?;
    let evicted = maybe.into_iter().zip(rows).filter(|(_, row)| *row == Some(Activity::Evicted));
    let evicted: HashSet<_> = evicted.map(|(user, _)| user).collect();
    Ok(users.into_iter().filter(|user| !evicted.contains(user)).collect())
}

/// Finds, among the next `limit` users above `after`, those who have an inbox and were last seen, or first
/// appeared, before `seen_before`.
pub fn idle(store: &Store, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle> {
    // No user has the greatest id.
    let from = keys::id(after.map_or(0, |after| after.get().saturating_add(1)));
    let row = |key: &[u8], value: &[u8]| Ok((ACTIVITY.key::<UserId>(key)?, Activity::read(key, value)?));
    let found = store.now(Tier::Disk).beginning((&ACTIVITY, Scope::Table), &[], &from, limit.max(1), row)?;
    let next = found.last().filter(|_| found.len() >= limit).map(|(user, _)| *user);
    let idle = found.into_iter().filter(|(_, activity)| activity.is_idle(seen_before));
    Ok(Idle { users: idle.map(|(user, _)| user).collect(), next })
}

/// Evicts a user last seen before `seen_before` and raises the inbox's floor to `floor`, if any, in one change. False,
/// and nothing changed, if the user was seen since or has no inbox.
pub fn evict(store: &Store, user: UserId, seen_before: Millis, floor: Option<Cursor>) -> Result<bool> {
    let _lock = store.memory.loaded.change_activity(user);
    if !activity(store, user, Tier::Disk)?.is_idle(seen_before) {
        return Ok(false);
    }
    let mut batch = WriteBatch::default();
    if floor.is_some() {
        put_inbox(&mut batch, user, floor, &[]);
    }
    write_activity(store, Write::Evict, batch, user, Activity::Evicted)?;
    Ok(true)
}

/// Writes the activity of a user who has none.
fn write_first(store: &Store, user: UserId, first: Activity) -> Result<()> {
    if activity(store, user, Tier::Disk)? != Activity::default() {
        return Ok(());
    }
    let _lock = store.memory.loaded.change_activity(user);
    match activity(store, user, Tier::Disk)? {
        Activity::Dormant { seen: None } => write_activity(store, Write::Meet, WriteBatch::default(), user, first),
        _ => Ok(()),
    }
}

/// Adds the row to a change and writes it; the caller holds the user's activity lock.
pub(crate) fn write_activity(
    store: &Store,
    what: Write,
    mut batch: WriteBatch,
    user: UserId,
    activity: Activity,
) -> Result<()> {
    ACTIVITY.put(&mut batch, user, &activity)?;
    store.follow_up(what, batch)
}

/// When each of `users` was last seen, in their order; `None` for those who get no partial pushes.
fn last_seen(store: &Store, users: &[UserId]) -> Result<Vec<Option<Millis>>> {
    let (mut looked, mut unknown) = (Vec::with_capacity(users.len()), Vec::new());
    store.memory.loaded.partial_push_recipients.look(users, |user, known| {
        looked.push(known);
        unknown.extend((known == Known::Unknown).then_some(user));
    });
    let mut rows = ACTIVITY.get_many(store.now(Tier::Disk), unknown)?.into_iter();
    let seen = |known| match known {
        Known::Unknown => rows.next().flatten().and_then(|activity| activity.seen()),
        known => known.row(),
    };
    Ok(looked.into_iter().map(seen).collect())
}
