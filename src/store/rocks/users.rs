//! Users' activity and authors' unpushed items.

use rocksdb::WriteBatch;

use super::tables::{ACTIVITY, JOBS, UNPUSHED};
use super::{Rocks, keys, values};
use crate::error::Result;
use crate::model::{Activity, Cursor, Job, JobId, Millis, Unpushed, UserId, Work};
use crate::store::{Split, Tier, Touched};

impl Rocks {
    /// See [`Store::activity`](crate::store::Store::activity).
    pub fn activity(&self, user: UserId, tier: Tier) -> Result<Activity> {
        if let Some(activity) = self.activities.get(&user) {
            return Ok(activity);
        }
        let _lock = self.activity_locks.one(user.get());
        self.locked_activity(user, tier)
    }

    /// Reads the row; the caller holds the user's activity lock.
    fn locked_activity(&self, user: UserId, tier: Tier) -> Result<Activity> {
        let row = self.get(ACTIVITY, &keys::id(user.get()), tier)?;
        let activity = row.map(|bytes| values::read_activity(&bytes)).transpose()?.unwrap_or_default();
        self.activities.insert(user, activity);
        Ok(activity)
    }

    /// Writes a change with the row in it; the caller holds the user's activity lock.
    fn write_activity(&self, mut batch: WriteBatch, user: UserId, activity: Activity) -> Result<()> {
        batch.put_cf(self.family(ACTIVITY)?, keys::id(user.get()), values::activity(activity));
        self.activities.remove(&user);
        self.follow_up(batch)?;
        self.activities.insert(user, activity);
        Ok(())
    }

    /// See [`Store::touch`](crate::store::Store::touch).
    pub fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
        let _lock = self.activity_locks.one(user.get());
        let mut batch = WriteBatch::default();
        let (activity, job) = match self.locked_activity(user, Tier::Disk)? {
            Activity::Dormant => {
                (Activity::Returning { seen: now }, Some(self.put_job(&mut batch, Work::Rebuild { user })?))
            }
            Activity::Returning { seen } => (Activity::Returning { seen: seen.max(now) }, None),
            Activity::Active { seen } => (Activity::Active { seen: seen.max(now) }, None),
        };
        self.write_activity(batch, user, activity)?;
        Ok(Touched { activity, job })
    }

    /// See [`Store::split_active`](crate::store::Store::split_active).
    pub fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split> {
        let lapsed = |activity: Activity| activity.seen().is_some_and(|seen| seen < seen_since);
        let keys: Vec<_> = users.iter().map(|user| keys::id(user.get())).collect();
        let rows = self.get_many(ACTIVITY, keys.iter().map(<[u8; 8]>::as_slice), Tier::Disk)?;
        let mut split = Split::default();
        for (user, row) in users.iter().zip(rows) {
            let Some(row) = row else { continue };
            let mut activity = values::read_activity(&row)?;
            if lapsed(activity) {
                // A read may have seen the user meanwhile, so look again under the lock.
                let _lock = self.activity_locks.one(user.get());
                activity = self.locked_activity(*user, Tier::Disk)?;
                if lapsed(activity) {
                    self.write_activity(WriteBatch::default(), *user, Activity::Dormant)?;
                    split.lapsed.push(*user);
                    continue;
                }
            }
            if activity != Activity::Dormant {
                split.active.push(*user);
            }
        }
        Ok(split)
    }

    /// See [`Store::rebuild`](crate::store::Store::rebuild).
    pub fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId]) -> Result<Vec<Job>> {
        let _lock = self.activity_locks.one(user.get());
        let mut batch = WriteBatch::default();
        batch.delete_cf(self.family(JOBS)?, keys::job(job));
        let Activity::Returning { seen } = self.locked_activity(user, Tier::Disk)? else {
            self.follow_up(batch)?;
            return Ok(Vec::new());
        };
        let settle = |author: &UserId| self.put_job(&mut batch, Work::Settle { user, author: *author });
        let jobs = authors.iter().map(settle).collect::<Result<_>>()?;
        self.write_activity(batch, user, Activity::Active { seen })?;
        Ok(jobs)
    }

    /// See [`Store::unpushed`](crate::store::Store::unpushed).
    pub fn unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        // In its own statement: the look holds a lock, which must not be held while reading the disk.
        let known = self.unpushed.look().of(author);
        known.map_or_else(|| self.stored_unpushed(author, tier), Ok)
    }

    fn stored_unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        let row = self.get(UNPUSHED, &keys::id(author.get()), tier)?;
        Ok(row.map(|bytes| values::read_unpushed(&bytes)).transpose()?.unwrap_or_default())
    }

    /// See [`Store::lacking`](crate::store::Store::lacking).
    pub fn lacking(&self, authors: &[UserId], floor: Option<Cursor>, active: bool, tier: Tier) -> Result<Vec<UserId>> {
        let (mut lacking, mut unknown) = (Vec::new(), Vec::new());
        let look = self.unpushed.look();
        for author in authors {
            match look.of(*author) {
                Some(unpushed) if unpushed.leaves_gaps(floor, active) => lacking.push(*author),
                Some(_) => {}
                None => unknown.push(*author),
            }
        }
        drop(look);
        for author in unknown {
            if self.stored_unpushed(author, tier)?.leaves_gaps(floor, active) {
                lacking.push(author);
            }
        }
        Ok(lacking)
    }
}
