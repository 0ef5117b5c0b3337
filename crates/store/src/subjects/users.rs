//! Users' activity and authors' unpushed items.

use std::collections::HashSet;
use std::ops::ControlFlow;

use rocksdb::{ReadOptions, WriteBatch, properties};

use crate::engine::health;
use crate::memory::key_filter::KeyFilter;
use crate::memory::partial_push_recipients::Seen;
use crate::rows::tables::{ACTIVITY, FOLLOWING, JOBS, UNPUSHED};
use crate::rows::walk::MOST_KEYS;
use crate::rows::{keys, values};
use crate::{Rocks, storage};
use model::cache;
use model::cache::ReadThrough;
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::{Activities, Idle, Inboxes, Lists, Split, Tier, Touched};
use model::{Activity, Cursor, Entry, JobId, Millis, Order, Span, Unpushed, UserId, Work};

/// Memory for cached activities, bytes: a quarter of a million of them.
const CAPACITY: u64 = 16 << 20;
/// The size of one activity, bytes.
const ACTIVITY_BYTES: u64 = 64 - cache::OVERHEAD;

/// An empty cache of activities.
pub(crate) fn activities() -> ReadThrough<UserId, Activity> {
    ReadThrough::new(CAPACITY, ACTIVITY_BYTES, |_| ACTIVITY_BYTES)
}

impl Activities for Rocks {
    fn activity(&self, user: UserId, tier: Tier) -> Result<Activity> {
        self.activities.get(user, || {
            let row = self.get(ACTIVITY, &keys::id(user.get()), tier)?;
            Ok(row.map(|bytes| values::read_activity(&bytes)).transpose()?.unwrap_or_default())
        })
    }

    fn meet(&self, user: UserId, now: Millis) -> Result<()> {
        self.write_first(user, Activity::Dormant { seen: Some(now) })
    }

    fn keep_no_inbox(&self, user: UserId) -> Result<()> {
        self.write_first(user, Activity::Evicted)
    }

    fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
        // A reader can do without this: at most some wait for a device that stalls, and none once the stall is known.
        let Some(_turn) = self.health.begin_touch() else { return Err(health::unavailable()) };
        let _lock = self.activity_locks.of(user.get()).lock();
        let mut batch = WriteBatch::default();
        let present = self.activity(user, Tier::Disk)?;
        let (activity, job) = match present.seen_again(now) {
            Some(activity) => (activity, None),
            None => {
                let job = self.put_job(&mut batch, Work::Rebuild { user })?;
                (present.returned(now, job.id), Some(job))
            }
        };
        self.write_activity(Write::Touch, batch, user, activity)?;
        Ok(Touched { activity, job })
    }

    fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        let mut split = Split::default();
        for (user, seen) in users.iter().zip(self.last_seen(users)?) {
            match seen {
                Some(seen) if seen >= seen_since => split.active.push(*user),
                Some(_) => {
                    // A read may have marked the user as seen meanwhile, so look again under the lock.
                    let _lock = self.activity_locks.of(user.get()).lock();
                    let activity = self.activity(*user, Tier::Disk)?;
                    if let Some(lapsed) = activity.lapsed(seen_since) {
                        self.write_activity(Write::Lapse, WriteBatch::default(), *user, lapsed)?;
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

    fn not_evicted(&self, users: Vec<UserId>) -> Result<Vec<UserId>> {
        let maybe: Vec<_> = users.iter().filter(|user| self.evicted.may_have(user.get())).collect();
        if maybe.is_empty() {
            return Ok(users);
        }
        let keys: Vec<_> = maybe.iter().map(|user| keys::id(user.get())).collect();
        let rows = self.get_many(ACTIVITY, keys.iter().map(<[u8; 8]>::as_slice), Tier::Disk)?;
        let mut evicted = HashSet::new();
        for (user, row) in maybe.into_iter().zip(rows) {
            if row.map(|row| values::read_activity(&row)).transpose()? == Some(Activity::Evicted) {
                evicted.insert(*user);
            }
        }
        Ok(users.into_iter().filter(|user| !evicted.contains(user)).collect())
    }

    fn idle(&self, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle> {
        let mut idle = Idle::default();
        let mut looked_at = 0;
        self.each_activity(after, &mut |user, activity| {
            looked_at += 1;
            if activity.is_idle(seen_before) {
                idle.users.push(user);
            }
            if looked_at < limit {
                return ControlFlow::Continue(());
            }
            idle.next = Some(user);
            ControlFlow::Break(())
        })?;
        Ok(idle)
    }

    fn evict(&self, user: UserId, seen_before: Millis, floor: Option<Cursor>) -> Result<bool> {
        let _lock = self.activity_locks.of(user.get()).lock();
        if !self.activity(user, Tier::Disk)?.is_idle(seen_before) {
            return Ok(false);
        }
        let mut batch = WriteBatch::default();
        let _announced = floor.map(|floor| self.put_floor(&mut batch, user, floor)).transpose()?;
        self.write_activity(Write::Evict, batch, user, Activity::Evicted)?;
        Ok(true)
    }

    fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId], room: usize) -> Result<usize> {
        // An unfollow comes before the look at the follows, or after the entries: then its settle job removes them.
        let _user = self.user_locks.of(user.get()).lock();
        self.drop_if_damaged(user)?;
        self.write_removals(user)?;
        let (floor, newest) = match self.activity(user, Tier::Disk)?.rebuilt(job) {
            Some(_) => self.newest_of(user, authors, room.saturating_add(1))?,
            None => (None, Vec::new()),
        };
        let _lock = self.activity_locks.of(user.get()).lock();
        let mut batch = WriteBatch::default();
        batch.delete_cf(self.family(JOBS)?, keys::job(job));
        let Some(rebuilt) = self.activity(user, Tier::Disk)?.rebuilt(job) else {
            self.drop_job(job)?;
            return Ok(0);
        };
        let (put, _announced) = self.put_newest(&mut batch, user, floor, &newest, room)?;
        self.write_activity(Write::Rebuild, batch, user, rebuilt)?;
        Ok(put)
    }

    fn unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        // In its own statement: it holds a lock, which must not be held while reading the disk.
        let known = self.unpushed.look().of(author);
        known.map_or_else(|| self.stored_unpushed(author, tier), Ok)
    }

    fn authors_with_unpushed(
        &self,
        authors: &[UserId],
        floor: Option<Cursor>,
        active: bool,
        tier: Tier,
    ) -> Result<Vec<UserId>> {
        let (mut authors_with_unpushed, mut unknown) = (Vec::new(), Vec::new());
        let look = self.unpushed.look();
        for author in authors {
            match look.of(*author) {
                Some(unpushed) if unpushed.leaves_gaps(floor, active) => authors_with_unpushed.push(*author),
                Some(_) => {}
                None => unknown.push(*author),
            }
        }
        drop(look);
        if tier == Tier::Memory && unknown.len() > MOST_KEYS {
            return Err(Error::NotCached);
        }
        for author in unknown {
            if self.stored_unpushed(author, tier)?.leaves_gaps(floor, active) {
                authors_with_unpushed.push(author);
            }
        }
        Ok(authors_with_unpushed)
    }
}

impl Rocks {
    /// Writes the activity of a user who has none.
    fn write_first(&self, user: UserId, first: Activity) -> Result<()> {
        if self.activity(user, Tier::Disk)? != Activity::default() {
            return Ok(());
        }
        let _lock = self.activity_locks.of(user.get()).lock();
        match self.activity(user, Tier::Disk)? {
            Activity::Dormant { seen: None } => self.write_activity(Write::Meet, WriteBatch::default(), user, first),
            _ => Ok(()),
        }
    }

    /// Adds the row to a change and writes it; the caller holds the user's activity lock.
    pub(crate) fn write_activity(
        &self,
        what: Write,
        mut batch: WriteBatch,
        user: UserId,
        activity: Activity,
    ) -> Result<()> {
        if activity == Activity::Evicted {
            // Before the row is visible: a reader that finds a user here looks up the row.
            self.evicted.add(user.get());
        }
        // Before the row is visible, too: a fan-out that chooses after a read of the row chooses this user.
        if let Some(seen) = activity.seen() {
            self.partial_push_recipients.set(user, seen);
        }
        batch.put_cf(self.family(ACTIVITY)?, keys::id(user.get()), values::activity(activity));
        let change = self.activities.change(user);
        self.follow_up_of(what, batch, user)?;
        change.written(activity);
        if activity.seen().is_none() {
            self.partial_push_recipients.remove(user);
        }
        Ok(())
    }

    /// The newest `most` entries that an inbox may have above its floor, of those of `authors` whom its user follows.
    fn newest_of(&self, user: UserId, authors: &[UserId], most: usize) -> Result<(Option<Cursor>, Vec<Entry>)> {
        let keys: Vec<_> = authors.iter().map(|author| keys::pair(user, *author)).collect();
        let follows = self.get_many(FOLLOWING, keys.iter().map(<[u8; 16]>::as_slice), Tier::Disk)?;
        let followed = authors.iter().zip(follows).filter(|(_, follow)| follow.is_some());
        let followed: Vec<_> = followed.map(|(author, _)| *author).collect();
        let floor = self.floor(user)?;
        let newest = self.outboxes(&followed, Span::ALL.newer_than(floor), Order::NewestFirst, most, Tier::Disk)?;
        Ok((floor, newest))
    }

    /// When each of `users` was last seen, in their order; `None` for those who get no partial pushes.
    fn last_seen(&self, users: &[UserId]) -> Result<Vec<Option<Millis>>> {
        let looked = self.partial_push_recipients.look(users);
        let unknown = users.iter().zip(&looked).filter(|(_, seen)| **seen == Seen::Unknown);
        let keys: Vec<_> = unknown.map(|(user, _)| keys::id(user.get())).collect();
        if keys.is_empty() {
            return Ok(looked.into_iter().map(Seen::time).collect());
        }
        let mut rows = self.get_many(ACTIVITY, keys.iter().map(<[u8; 8]>::as_slice), Tier::Disk)?.into_iter();
        let mut of_row = || -> Result<Option<Millis>> {
            let Some(row) = rows.next().flatten() else { return Ok(None) };
            Ok(values::read_activity(&row)?.seen())
        };
        looked.into_iter().map(|seen| if seen == Seen::Unknown { of_row() } else { Ok(seen.time()) }).collect()
    }

    /// Visits the rows of users above `after`, ascending, until `visit` breaks.
    fn each_activity(
        &self,
        after: Option<UserId>,
        visit: &mut dyn FnMut(UserId, Activity) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut rows = self.db.raw_iterator_cf_opt(self.family(ACTIVITY)?, ReadOptions::default());
        // No user has the greatest id.
        rows.seek(keys::id(after.map_or(0, |after| after.get().saturating_add(1))));
        while let Some((key, value)) = rows.item() {
            let user = keys::number(key).and_then(|raw| UserId::new(raw).ok());
            let user = user.ok_or_else(|| Error::Corrupt(format!("a key in {ACTIVITY}")))?;
            if visit(user, values::read_activity(value)?).is_break() {
                return Ok(());
            }
            rows.next();
        }
        rows.status().map_err(storage)
    }

    /// Reads the table at start: a filter with all evicted users, which [`Rocks::not_evicted`] asks first, and all users
    /// who get partial pushes.
    pub(crate) fn read_activities(&self) -> Result<KeyFilter> {
        let family = self.family(ACTIVITY)?;
        let about = self.db.property_int_value_cf(family, properties::ESTIMATE_NUM_KEYS).map_err(storage)?;
        let evicted = KeyFilter::for_keys(about.unwrap_or_default() as usize);
        self.each_activity(None, &mut |user, activity| {
            if activity == Activity::Evicted {
                evicted.add(user.get());
            }
            if let Some(seen) = activity.seen() {
                self.partial_push_recipients.set(user, seen);
            }
            ControlFlow::Continue(())
        })?;
        Ok(evicted)
    }

    fn stored_unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        let row = self.get(UNPUSHED, &keys::id(author.get()), tier)?;
        Ok(row.map(|bytes| values::read_unpushed(&bytes)).transpose()?.unwrap_or_default())
    }
}
