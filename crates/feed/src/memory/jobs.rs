//! The numbers of jobs.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::rows::tables::JOBS;
use crate::rows::walk::go_on;
use kv::{Database, Tier};
use model::error::Result;
use model::{JobId, Work};

/// The number of the next job.
pub(crate) struct NextJob(AtomicU64);

impl NextJob {
    /// Goes on behind the jobs of a directory.
    pub(crate) fn load(database: &Database) -> Result<Self> {
        let mut newest = 0;
        database.now(Tier::Disk).each_row(&JOBS, &[], |key, _| {
            newest = JOBS.key::<JobId>(key)?.seq.max(newest);
            go_on(true)
        })?;
        Ok(Self(AtomicU64::new(newest + 1)))
    }

    /// A number for a new job.
    pub(crate) fn give(&self, work: &Work) -> JobId {
        JobId { lane: work.lane(), seq: self.0.fetch_add(1, Ordering::Relaxed) }
    }
}
