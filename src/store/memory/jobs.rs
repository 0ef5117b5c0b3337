//! Jobs.

use super::{Memory, State};
use crate::error::Result;
use crate::model::{Entry, Job, JobId, Progress, Reach, Work};

impl Memory {
    /// See [`Store::begin_fan_out`](crate::store::Store::begin_fan_out).
    pub fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()> {
        let mut state = self.state();
        state.set_progress(job, Progress { reach, done_to: None });
        if reach != Reach::All {
            let unpushed = state.unpushed.entry(entry.author).or_default();
            let newest = if reach == Reach::Nobody { &mut unpushed.to_nobody } else { &mut unpushed.to_active };
            *newest = (*newest).max(Some(entry.cursor));
        }
        Ok(())
    }

    /// See [`Store::drop_job`](crate::store::Store::drop_job).
    pub fn drop_job(&self, job: JobId) -> Result<()> {
        self.state().end_job(job);
        Ok(())
    }

    /// See [`Store::jobs`](crate::store::Store::jobs).
    pub fn jobs(&self) -> Result<Vec<Job>> {
        let state = self.state();
        Ok(state.jobs.iter().map(|(id, (work, progress))| Job { id: *id, work: *work, progress: *progress }).collect())
    }
}

impl State {
    /// Makes a job with the next number.
    pub(super) fn add_job(&mut self, work: Work) -> Job {
        self.last_job += 1;
        let id = JobId { lane: work.lane(), seq: self.last_job };
        self.jobs.insert(id, (work, None));
        Job { id, work, progress: None }
    }

    /// Records how far a job has come; nothing if it has ended.
    pub(super) fn set_progress(&mut self, job: JobId, progress: Progress) {
        if let Some((_, recorded)) = self.jobs.get_mut(&job) {
            *recorded = Some(progress);
        }
    }

    pub(super) fn end_job(&mut self, job: JobId) {
        self.jobs.remove(&job);
    }
}
