//! The backlog in figures.

use super::Backlog;
use model::metrics::{Page, by};
use model::{Count, Fill, Work, figures};

/// One number for each kind of job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kinds {
    /// Fan-outs.
    pub fan_out: u64,
    /// Settles.
    pub settle: u64,
    /// Rebuilds.
    pub rebuild: u64,
}

/// All figures of a backlog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Places for jobs: taken by jobs, or reserved for requests under way.
    pub places: Fill,
    /// Jobs under way or waiting, parked ones included.
    pub waiting: Kinds,
    /// Jobs that are parked, because they failed too often. They take no places.
    pub parked: u64,
    /// Jobs that ended, needless ones included.
    pub done: Kinds,
    /// Pending items.
    pub pending_items: u64,
    /// Unsettled pairs.
    pub unsettled_pairs: u64,
    /// Settles that a newer one of the same pair made needless.
    pub coalesced: u64,
    /// Changes refused for lack of room for their jobs.
    pub refused: u64,
    /// Items left out of the fan-out for lack of room. Reads take them from outboxes.
    pub left_out: u64,
}

/// Bounds of the times from publish to delivery, nanoseconds: 1 ms to 5 minutes.
pub(super) const LAGS: [u64; 16] = {
    let mut bounds = [1, 3, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000];
    let mut place = 0;
    while place < bounds.len() {
        bounds[place] *= 1_000_000;
        place += 1;
    }
    bounds
};

/// Counts jobs by kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) added: KindCounts,
    pub(super) done: KindCounts,
}

#[derive(Debug, Default)]
pub(super) struct KindCounts([Count; 3]);

impl KindCounts {
    pub(super) fn add(&self, work: &Work) {
        let kind = match work {
            Work::FanOut { .. } => 0,
            Work::Settle { .. } => 1,
            Work::Rebuild { .. } => 2,
        };
        self.0[kind].add(1);
    }

    fn numbers(&self) -> [u64; 3] {
        self.0.each_ref().map(Count::get)
    }
}

impl Tally {
    /// Waiting and done. A job that ends meanwhile counts as waiting.
    fn kinds(&self) -> (Kinds, Kinds) {
        let done = self.done.numbers();
        let added = self.added.numbers();
        let kinds = |[fan_out, settle, rebuild]: [u64; 3]| Kinds { fan_out, settle, rebuild };
        (kinds(std::array::from_fn(|i| added[i].saturating_sub(done[i]))), kinds(done))
    }
}

impl Backlog {
    /// The backlog in figures.
    pub fn usage(&self) -> Usage {
        let (waiting, done) = self.tally.kinds();
        Usage {
            places: self.room.fill(),
            waiting,
            parked: self.lanes.parked() as u64,
            done,
            pending_items: self.pending.len(),
            unsettled_pairs: self.unsettled.len(),
            coalesced: self.coalesced.get(),
            refused: self.refused.get(),
            left_out: self.left_out.get(),
        }
    }

    /// Writes the figures to a page. The job that waits longest is sought among the first jobs of all lanes. An item whose fan-out
    /// an earlier run left is late from the start of this run.
    pub fn write_figures(&self, page: &mut Page) {
        let usage = self.usage();
        let kinds = |of: Kinds| by("kind", [("fan_out", of.fan_out), ("settle", of.settle), ("rebuild", of.rebuild)]);
        let oldest = self.lanes.oldest().map(|since| since.elapsed());
        figures! { page =>
            /// Jobs running, waiting or parked.
            tideline_jobs = kinds(usage.waiting);
            /// Jobs that failed too often and are tried again much later; pages stay right. The server log has the
            /// causes.
            tideline_parked_jobs = usage.parked;
            /// Places for jobs in use: by jobs, and by open requests that may add jobs.
            tideline_job_places = usage.places;
            /// Jobs that ended.
            tideline_jobs_done_total = kinds(usage.done);
            /// Time for which the oldest job has been running or waiting; 0 without jobs.
            tideline_job_oldest_age_seconds = oldest.unwrap_or_default().as_secs_f64();
            /// Seconds from the publish of an item until it is in the inboxes of all followers who get it.
            tideline_delivery_lag_seconds = &self.lag;
            /// Settle jobs without work, because a newer job of the same pair existed.
            tideline_jobs_coalesced_total = &self.coalesced;
            /// Rebuilds put off because too many jobs were waiting.
            tideline_rebuilds_put_off_total = &self.put_off;
            /// Items of the command log that found no room for a fan-out job: reads take them from outboxes.
            tideline_fan_outs_left_out_total = &self.left_out;
            /// Items whose fan-out has not ended.
            tideline_pending_items = usage.pending_items;
            /// Pairs of a user and an author whose settle job has not ended.
            tideline_unsettled_pairs = usage.unsettled_pairs;
        }
    }
}
