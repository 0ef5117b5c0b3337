//! Users' activity.

use std::collections::HashSet;

use crate::Store;
use crate::access::at::MOST_KEYS;
use crate::engine::health::unavailable;
use crate::kv::Scope;
use crate::memory::mirror::{Known, Mirror};
use crate::rows::batch::WriteBatch;
use crate::rows::tables::{ACTIVITY, FOLLOWING, JOBS};
use crate::rows::{keys, values};
use model::cache;
use model::cache::ReadThrough;
use model::cache::memory::{CacheMemory, Share};
use model::error::{Error, Result};
use model::failpoint::Write;
use model::store::{Idle, Split, Tier, Touched};
use model::{Activity, Cursor, Entry, JobId, Millis, Span, Unpushed, UserId, Work};

/// The size of one activity, bytes.
const ACTIVITY_BYTES: u64 = 64 - cache::OVERHEAD;

/// An empty cache of activities.
pub(crate) fn activities(memory: CacheMemory) -> ReadThrough<UserId, Activity> {
    ReadThrough::new(memory.of(Share::ACTIVITIES), ACTIVITY_BYTES, |_| ACTIVITY_BYTES)
}

/// Most users who get partial pushes and are kept in memory, at 20 to 40 bytes each.
pub(crate) const MOST_RECIPIENTS: usize = 1_800_000;

/// For each user who gets partial pushes, when the user was last seen; beside the table `activity`, because a fan-out to a
/// million users looks up each. A user comes in before the row is visible, and goes after that.
pub(crate) type PartialPushRecipients = Mirror<Millis, 64>;

impl Store {
    /// The activity of a user.
    pub fn activity(&self, user: UserId, tier: Tier) -> Result<Activity> {
        self.activities.get(user, || {
            Ok(self.read(ACTIVITY, &keys::id(user.get()), tier, values::read_activity)?.unwrap_or_default())
        })
    }

    /// Records the time of a new user's first appearance, unless the user has an activity already. From that time on
    /// the user counts as idle; see [`Store::idle`].
    pub fn meet(&self, user: UserId, now: Millis) -> Result<()> {
        self.write_first(user, Activity::Dormant { seen: Some(now) })
    }

    /// Records that a new user has no inbox here, unless the user has an activity already: the user counts as evicted.
    pub fn keep_no_inbox(&self, user: UserId) -> Result<()> {
        self.write_first(user, Activity::Evicted)
    }

    /// Marks a user as seen. A dormant or evicted user becomes returning, with a rebuild job in the same change. Calls
    /// for one user apply one after the other, also with [`Store::split_active`] and [`Store::evict`].
    pub fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
        // A reader can do without this: at most some wait for a device that stalls, and none once the stall is known.
        let health = self.disk.as_deref().map(|disk| &*disk.health);
        let _turn = health.map(|health| health.writes.begin_optional().ok_or_else(unavailable)).transpose()?;
        let _lock = self.loaded.activity_locks.of(user.get()).lock();
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

    /// Selects the users that get partial pushes. Those last seen before `seen_since` become dormant instead; the new
    /// state is visible before this returns.
    pub fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        let mut split = Split::default();
        for (user, seen) in users.iter().zip(self.last_seen(users)?) {
            match seen {
                Some(seen) if seen >= seen_since => split.active.push(*user),
                Some(_) => {
                    // A read may have marked the user as seen meanwhile, so look again under the lock.
                    let _lock = self.loaded.activity_locks.of(user.get()).lock();
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

    /// Leaves out evicted users. Costs next to nothing if there are none.
    pub fn not_evicted(&self, users: Vec<UserId>) -> Result<Vec<UserId>> {
        let maybe: Vec<_> = users.iter().filter(|user| self.loaded.evicted.may_have(user.get())).collect();
        if maybe.is_empty() {
            return Ok(users);
        }
        let keys = maybe.iter().map(|user| keys::id(user.get()));
        let rows = self.read_many(ACTIVITY, keys, Tier::Disk, values::read_activity)?;
        let evicted = maybe.into_iter().zip(rows).filter(|(_, row)| *row == Some(Activity::Evicted));
        let evicted: HashSet<_> = evicted.map(|(user, _)| *user).collect();
        Ok(users.into_iter().filter(|user| !evicted.contains(user)).collect())
    }

    /// Finds, among the next `limit` users above `after`, those who have an inbox and were last seen, or first
    /// appeared, before `seen_before`.
    pub fn idle(&self, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle> {
        // No user has the greatest id.
        let from = keys::id(after.map_or(0, |after| after.get().saturating_add(1)));
        let row = |key: &[u8], value: &[u8]| {
            let user = keys::number(key).and_then(|raw| UserId::new(raw).ok());
            let user = user.ok_or_else(|| Error::Corrupt(format!("a key in {ACTIVITY}")))?;
            Ok((user, values::read_activity(value)?))
        };
        let found = self.now(Tier::Disk).beginning((ACTIVITY, Scope::Table), &[], &from, limit.max(1), row)?;
        let next = found.last().filter(|_| found.len() >= limit).map(|(user, _)| *user);
        let idle = found.into_iter().filter(|(_, activity)| activity.is_idle(seen_before));
        Ok(Idle { users: idle.map(|(user, _)| user).collect(), next })
    }

    /// Evicts a user last seen before `seen_before` and raises the inbox's floor to `floor`, if any, in one change. False,
    /// and nothing changed, if the user was seen since or has no inbox.
    pub fn evict(&self, user: UserId, seen_before: Millis, floor: Option<Cursor>) -> Result<bool> {
        let _lock = self.loaded.activity_locks.of(user.get()).lock();
        if !self.activity(user, Tier::Disk)?.is_idle(seen_before) {
            return Ok(false);
        }
        let mut batch = WriteBatch::default();
        let _announced = floor.map(|floor| self.put_inbox(&mut batch, user, Some(floor), &[])).transpose()?;
        self.write_activity(Write::Evict, batch, user, Activity::Evicted)?;
        Ok(true)
    }

    /// Rebuilds an inbox, in one change: puts in the newest `room` entries of the outboxes of those of `authors` whom
    /// the user follows, as far as they lie above the floor, makes the user active, and removes the job. If there are more
    /// entries, the floor rises to the first one left out. If the user is not returning because of this job, only
    /// removes it: the user has been dormant again, and `authors` may be out of date. No follow or unfollow of the user
    /// takes effect meanwhile. Returns how many entries were put in, or were there already.
    pub fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId], room: usize) -> Result<usize> {
        // An unfollow comes before the look at the follows, or after the entries: then its settle job removes them.
        let _user = self.user_locks.of(user.get()).lock();
        self.drop_if_damaged(user)?;
        self.write_removals(user)?;
        let (floor, newest) = match self.activity(user, Tier::Disk)?.rebuilt(job) {
            Some(_) => self.newest_of(user, authors, room.saturating_add(1))?,
            None => (None, Vec::new()),
        };
        let _lock = self.loaded.activity_locks.of(user.get()).lock();
        let mut batch = WriteBatch::default();
        batch.delete(JOBS, keys::job(job));
        let Some(rebuilt) = self.activity(user, Tier::Disk)?.rebuilt(job) else {
            self.drop_job(job)?;
            return Ok(0);
        };
        let (kept, left_out) = newest.split_at(room.min(newest.len()));
        // Also the floor that was read, as in a settle.
        let floor = floor.max(left_out.first().map(|entry| entry.cursor));
        let _announced = self.put_inbox(&mut batch, user, floor, kept)?;
        self.write_activity(Write::Rebuild, batch, user, rebuilt)?;
        Ok(kept.len())
    }

    /// The author's newest items that did not reach every follower.
    pub fn unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        let mut row = Known::Unknown;
        self.loaded.unpushed.rows.look(&[author], |_, known| row = known);
        match row {
            Known::Unknown => self.stored_unpushed(author, tier),
            known => Ok(known.row().unwrap_or_default()),
        }
    }

    /// A number that differs once an author may have unpushed items who was not one of [`Store::may_have_unpushed`]
    /// before.
    pub fn unpushed_version(&self) -> u64 {
        self.loaded.unpushed.rows.version()
    }

    /// Those of `authors` who may have unpushed items, in their order. It is all of them while
    /// [`Store::unpushed_version`] is the number returned.
    pub fn may_have_unpushed(&self, authors: &[UserId]) -> (u64, Vec<UserId>) {
        let (version, mut found) = (self.loaded.unpushed.rows.version(), Vec::new());
        self.loaded
            .unpushed
            .rows
            .look(authors, |author, known| found.extend((known != Known::NoRow).then_some(author)));
        (version, found)
    }

    /// Those of `authors` of whom an inbox with this floor may lack entries above it; see [`Unpushed::leaves_gaps`]. In
    /// any order. Costs next to nothing for authors without unpushed items.
    pub fn authors_with_unpushed(
        &self,
        authors: &[UserId],
        floor: Option<Cursor>,
        active: bool,
        tier: Tier,
    ) -> Result<Vec<UserId>> {
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        self.loaded.unpushed.rows.look(authors, |author, known| match known {
            Known::Row(unpushed) if unpushed.leaves_gaps(floor, active) => found.push(author),
            Known::Row(_) | Known::NoRow => {}
            Known::Unknown => unknown.push(author),
        });
        if tier == Tier::Memory && unknown.len() > MOST_KEYS {
            return Err(Error::NotCached);
        }
        for author in unknown {
            if self.stored_unpushed(author, tier)?.leaves_gaps(floor, active) {
                found.push(author);
            }
        }
        Ok(found)
    }
}

impl Store {
    /// Writes the activity of a user who has none.
    fn write_first(&self, user: UserId, first: Activity) -> Result<()> {
        if self.activity(user, Tier::Disk)? != Activity::default() {
            return Ok(());
        }
        let _lock = self.loaded.activity_locks.of(user.get()).lock();
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
            self.loaded.evicted.add(user.get());
        }
        // Before the row is visible, too: a fan-out that chooses after a read of the row chooses this user.
        if let Some(seen) = activity.seen() {
            self.loaded.partial_push_recipients.set(user, seen);
        }
        batch.put(ACTIVITY, keys::id(user.get()), values::activity(activity));
        let change = self.activities.change(user);
        self.follow_up(what, batch)?;
        change.written(activity);
        if activity.seen().is_none() {
            self.loaded.partial_push_recipients.remove(user);
        }
        Ok(())
    }

    /// The newest `most` entries that an inbox may have above its floor, of those of `authors` whom its user follows.
    fn newest_of(&self, user: UserId, authors: &[UserId], most: usize) -> Result<(Option<Cursor>, Vec<Entry>)> {
        let followed = self.now(Tier::Disk).with_row(FOLLOWING, user, authors.to_vec(), true)?;
        let floor = self.floor(user)?;
        let newest = self.outboxes(&followed, Span::ALL.newer_than(floor).newest(most), Tier::Disk)?;
        Ok((floor, newest))
    }

    /// When each of `users` was last seen, in their order; `None` for those who get no partial pushes.
    fn last_seen(&self, users: &[UserId]) -> Result<Vec<Option<Millis>>> {
        let (mut looked, mut unknown) = (Vec::with_capacity(users.len()), Vec::new());
        self.loaded.partial_push_recipients.look(users, |user, known| {
            looked.push(known);
            unknown.extend((known == Known::Unknown).then(|| keys::id(user.get())));
        });
        let mut rows = self.read_many(ACTIVITY, unknown, Tier::Disk, values::read_activity)?.into_iter();
        let seen = |known| match known {
            Known::Unknown => rows.next().flatten().and_then(|activity| activity.seen()),
            known => known.row(),
        };
        Ok(looked.into_iter().map(seen).collect())
    }
}
