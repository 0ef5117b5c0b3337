//! Jobs: a row for each that is under way.

use crate::rows::tables::JOBS;
use crate::store::Store;
use kv::{Tier, WriteBatch};
use model::error::Result;
use model::{Job, JobId, Work};

/// Adds a new job to a change.
pub(crate) fn put_job(store: &Store, change: &mut WriteBatch, work: Work) -> Result<Job> {
    let job = Job { id: store.memory.next_job.give(&work), work, progress: None };
    JOBS.put(change, job.id, &job)?;
    Ok(job)
}

/// Ends a job that has nothing left to do, once its entries are on disk.
pub fn drop_job(store: &Store, job: JobId) -> Result<()> {
    // Not before the entries that it delivered.
    store.memory.inboxes.make_room(store)?;
    store.memory.inboxes.arrivals.record(job, None);
    Ok(())
}

/// All jobs on disk, by lane, then by age, oldest first.
pub fn jobs(store: &Store) -> Result<Vec<Job>> {
    store.write_arrivals()?;
    JOBS.all(store.now(Tier::Disk))
}
