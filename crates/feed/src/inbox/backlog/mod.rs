//! The jobs on disk that are not done, in memory.
//!
//! The job rows are the truth; this is their mirror, filled from them at start. It tells readers which items inboxes
//! lack ([`Backlog::pending`], [`Backlog::unsettled`]), gives workers their next jobs ([`Backlog::lanes`]), and bounds
//! how many may wait.

mod held;
mod lanes;
mod pending;
mod reservations;
mod unsettled;
mod usage;

use std::time::Instant;

use crate::capacity::Capacity;
use model::error::{Code, Error, Result};
use model::{Count, Histogram, Job, JobId, Work};

pub use crate::capacity::Reservation as JobReservation;
pub use lanes::{Failed, Lanes, Retry};
pub use unsettled::Unsettling;
pub use usage::{Kinds, Usage};

/// All jobs under way.
#[derive(Debug)]
pub struct Backlog {
    room: Capacity,
    pending: pending::Pending,
    unsettled: unsettled::Unsettled,
    lanes: Lanes,
    tally: usage::Tally,
    /// Times from the publish of items until they are delivered.
    lag: Histogram,
    /// Changes refused for lack of room for their jobs.
    refused: Count,
    /// Rebuilds postponed.
    put_off: Count,
    /// Items left out of the fan-out for lack of room.
    left_out: Count,
    /// Settle jobs that a newer one of the same pair made needless.
    coalesced: Count,
}

impl Backlog {
    /// An empty backlog for at most `capacity` jobs.
    pub fn new(capacity: usize) -> Self {
        Self {
            // Not for each place: waiting threads are woken only while an eighth of the capacity is free.
            room: Capacity::new(capacity, capacity / 8),
            pending: pending::Pending::default(),
            unsettled: unsettled::Unsettled::default(),
            lanes: Lanes::new(capacity),
            tally: usage::Tally::default(),
            lag: Histogram::of_durations(&usage::LAGS),
            refused: Count::default(),
            put_off: Count::default(),
            left_out: Count::default(),
            coalesced: Count::default(),
        }
    }

    /// Takes over the jobs that an earlier run left.
    pub fn restore(&self, jobs: Vec<Job>) {
        for job in jobs {
            self.add(&mut self.room.force(1), job);
        }
    }

    /// Room for `n` more jobs, or `overloaded`.
    pub fn reserve(&self, n: usize) -> Result<JobReservation<'_>> {
        self.room.try_take(n).ok_or_else(|| {
            self.refused.add(1);
            overloaded()
        })
    }

    /// Room for `n` more jobs that can be postponed: leaves half of the backlog free.
    pub fn reserve_low(&self, n: usize) -> Option<JobReservation<'_>> {
        let room = self.room.try_take_low(n);
        if room.is_none() {
            self.put_off.add(1);
        }
        room
    }

    /// Room for the fan-outs of `n` items that are new whether or not there is room. `None` if there is none: then the
    /// items are to be left out of the fan-out.
    pub fn reserve_or_leave_out(&self, n: usize) -> Option<JobReservation<'_>> {
        let room = self.room.try_take(n);
        if room.is_none() {
            self.left_out.add(n);
        }
        room
    }

    /// Adds a job that is on disk. From here on a fan-out's item is pending, and the pair of a settle unsettled.
    pub fn add(&self, room: &mut JobReservation<'_>, job: Job) {
        room.use_one();
        self.tally.added.add(&job.work);
        match job.work {
            Work::FanOut { entry } => self.pending.hold(entry.source, entry.cursor, entry),
            Work::Settle { user, source } => self.unsettled.hold(user, source, Some(job.id.seq)),
            Work::Rebuild { .. } => {}
        }
        self.lanes.push(job);
    }

    /// Removes a job that is gone from disk.
    pub fn finish(&self, job: &Job) {
        let is_fan_out = matches!(job.work, Work::FanOut { .. });
        match job.work {
            Work::FanOut { entry } => self.pending.release(entry.source, &entry.cursor),
            Work::Settle { user, source } => self.unsettled.release(user, &source),
            Work::Rebuild { .. } => {}
        }
        self.tally.done.add(&job.work);
        if let Some(since) = self.lanes.done(job.id.lane).filter(|_| is_fan_out) {
            self.lag.observe_duration(since.elapsed());
        }
        self.room.give_back(1);
    }

    /// Gives back the lane of a job that failed, for a reason of its own (`is_own`) or because the store takes no changes.
    /// A job that is parked gives its place back, too. Its item stays pending, and its pair unsettled.
    pub fn failed(&self, job: JobId, is_own: bool) -> Failed {
        let failed = self.lanes.failed(job.lane, is_own);
        if failed.is_parked {
            self.room.give_back(1);
        }
        failed
    }

    /// Lets parked jobs whose time has come enter their lanes again, as far as there is room.
    pub fn unpark(&self, now: Instant) {
        while self.lanes.parked() > 0
            && let Some(mut room) = self.room.try_take(1)
            && self.lanes.unpark(now)
        {
            room.use_one();
        }
    }

    /// The queues that workers take from.
    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn overloaded() -> Error {
    Error::refused(Code::Overloaded, "the queue of jobs is full. Send the request again later")
}
