//! Users' activity and authors' unpushed items.

use rocksdb::WriteBatch;

use super::tables::{ACTIVITY, JOBS, UNPUSHED};
use super::{Rocks, keys, values};
use crate::error::Result;
use crate::model::{Activity, Job, JobId, Millis, Unpushed, UserId, Work};
use crate::store::{Split, Tier, Touched};

impl Rocks {
    /// See [`Store::activity`](crate::store::Store::activity).
    pub fn activity(&self, user: UserId, tier: Tier) -> Result<Activity> {
        let row = self.get(ACTIVITY, &keys::id(user.get()), tier)?;
        Ok(row.map(|bytes| values::read_activity(&bytes)).transpose()?.unwrap_or_default())
    }

    fn put_activity(&self, batch: &mut WriteBatch, user: UserId, activity: Activity) -> Result<()> {
        batch.put_cf(self.family(ACTIVITY)?, keys::id(user.get()), values::activity(activity));
        Ok(())
    }

    /// See [`Store::touch`](crate::store::Store::touch).
    pub fn touch(&self, user: UserId, now: Millis) -> Result<Touched> {
        let _lock = self.activity_locks.one(user.get());
        let mut batch = WriteBatch::default();
        let (activity, job) = match self.activity(user, Tier::Disk)? {
            Activity::Dormant => {
                (Activity::Returning { seen: now }, Some(self.put_job(&mut batch, Work::Rebuild { user })?))
            }
            Activity::Returning { seen } => (Activity::Returning { seen: seen.max(now) }, None),
            Activity::Active { seen } => (Activity::Active { seen: seen.max(now) }, None),
        };
        self.put_activity(&mut batch, user, activity)?;
        self.follow_up(batch)?;
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
                activity = self.activity(*user, Tier::Disk)?;
                if lapsed(activity) {
                    let mut batch = WriteBatch::default();
                    self.put_activity(&mut batch, *user, Activity::Dormant)?;
                    self.follow_up(batch)?;
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
        let mut jobs = Vec::new();
        if let Activity::Returning { seen } = self.activity(user, Tier::Disk)? {
            for author in authors {
                jobs.push(self.put_job(&mut batch, Work::Settle { user, author: *author })?);
            }
            self.put_activity(&mut batch, user, Activity::Active { seen })?;
        }
        self.follow_up(batch)?;
        Ok(jobs)
    }

    /// See [`Store::unpushed`](crate::store::Store::unpushed).
    pub fn unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed> {
        if !self.unpushed.may_have(author.get()) {
            return Ok(Unpushed::default());
        }
        let row = self.get(UNPUSHED, &keys::id(author.get()), tier)?;
        Ok(row.map(|bytes| values::read_unpushed(&bytes)).transpose()?.unwrap_or_default())
    }
}
