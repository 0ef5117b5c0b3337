//! Jobs: beginning, ending, listing.

use rocksdb::{ReadOptions, WriteBatch};

use super::tables::{JOBS, UNPUSHED};
use super::{Rocks, keys, storage, values};
use crate::error::{Error, Result};
use crate::failpoint::Write;
use crate::model::{Entry, Job, JobId, Progress, Reach, Work};
use crate::store::Tier;

impl Rocks {
    /// See [`Store::begin_fan_out`](crate::store::Store::begin_fan_out).
    pub fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()> {
        let mut batch = WriteBatch::default();
        let progress = Some(Progress { reach, done_to: None });
        batch.put_cf(self.family(JOBS)?, keys::job(job), values::job(&Work::FanOut { entry }, progress)?);
        // Read, then written: the author's lane lets no other fan-out of the author in between.
        let mut unpushed = self.unpushed(entry.author, Tier::Disk)?;
        match reach {
            Reach::All => {}
            Reach::Active => unpushed.to_active = unpushed.to_active.max(Some(entry.cursor)),
            Reach::Nobody => unpushed.to_nobody = unpushed.to_nobody.max(Some(entry.cursor)),
        }
        if reach != Reach::All {
            let key = keys::id(entry.author.get());
            batch.put_cf(self.family(UNPUSHED)?, key, values::unpushed(unpushed));
        }
        self.follow_up(Write::BeginFanOut, batch)?;
        if reach != Reach::All {
            self.unpushed.set(entry.author, unpushed);
        }
        Ok(())
    }

    /// See [`Store::drop_job`](crate::store::Store::drop_job).
    pub fn drop_job(&self, job: JobId) -> Result<()> {
        let mut batch = WriteBatch::default();
        batch.delete_cf(self.family(JOBS)?, keys::job(job));
        self.follow_up(Write::DropJob, batch)
    }

    /// See [`Store::jobs`](crate::store::Store::jobs).
    pub fn jobs(&self) -> Result<Vec<Job>> {
        let mut rows = self.db.raw_iterator_cf_opt(self.family(JOBS)?, ReadOptions::default());
        let mut jobs = Vec::new();
        rows.seek_to_first();
        while let Some((key, value)) = rows.item() {
            let id = keys::split_job(key).ok_or_else(|| Error::Corrupt("a key in jobs".to_owned()))?;
            jobs.push(values::read_job(id, value)?);
            rows.next();
        }
        rows.status().map_err(storage)?;
        Ok(jobs)
    }
}
