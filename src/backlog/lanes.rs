//! The queues of jobs, and the channels that give them to workers.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::model::{Job, LANES, Lane};
use crate::sync::{Mutex, MutexGuard};

/// First and longest pause before a failed job is tried again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
/// Jobs that an empty queue keeps memory for.
const KEPT: usize = 16;

#[derive(Debug, Default)]
struct Queue {
    /// Each with the time since when it waits in this run.
    jobs: VecDeque<(Job, Instant)>,
    /// In a channel, with a worker, or waiting for a retry; each lane at most once.
    busy: bool,
    /// How often the first job has failed.
    failures: u32,
}

/// A lane whose first job failed, and the time of its retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Retry {
    /// The earliest time of the retry.
    pub at: Instant,
    /// The lane.
    pub lane: Lane,
}

/// Lanes of jobs. Jobs of one lane run one after the other; different lanes run side by side.
#[derive(Debug)]
pub struct Lanes {
    queues: Box<[Mutex<Queue>]>,
    hints: Sender<Lane>,
    inbox: Receiver<Lane>,
    failed: Sender<Retry>,
    retries: Receiver<Retry>,
}

impl Lanes {
    pub(super) fn new() -> Self {
        // As many places as lanes: a hint always fits.
        let (hints, inbox) = bounded(usize::from(LANES));
        let (failed, retries) = bounded(usize::from(LANES));
        Self { queues: (0..LANES).map(|_| Mutex::default()).collect(), hints, inbox, failed, retries }
    }

    fn queue(&self, lane: Lane) -> MutexGuard<'_, Queue> {
        self.queues[usize::from(lane.number())].lock()
    }

    pub(super) fn push(&self, job: Job) {
        let mut queue = self.queue(job.id.lane);
        queue.jobs.push_back((job, Instant::now()));
        if !queue.busy {
            queue.busy = true;
            self.hint(job.id.lane);
        }
    }

    fn hint(&self, lane: Lane) {
        if self.hints.try_send(lane).is_err() {
            tracing::error!(lane = lane.number(), "a lane was reported as ready twice");
        }
    }

    /// The channel of lanes with jobs. A worker that receives a lane owns it until it calls [`Lanes::again`] or
    /// [`Lanes::failed`], or [`Backlog::finish`](super::Backlog::finish) for its first job.
    pub fn ready(&self) -> &Receiver<Lane> {
        &self.inbox
    }

    /// The first job of a lane; it stays there until it is finished.
    pub fn first(&self, lane: Lane) -> Option<Job> {
        self.queue(lane).jobs.front().map(|(job, _)| *job)
    }

    /// Gives a lane back with its first job not done.
    pub fn again(&self, lane: Lane) {
        self.hint(lane);
    }

    /// Gives back a lane whose first job failed. It goes to [`Lanes::retries`], with a pause that doubles with each
    /// failure. No worker waits for it meanwhile. Returns the pause.
    pub fn failed(&self, lane: Lane) -> Duration {
        let mut queue = self.queue(lane);
        let pause = PAUSE.0.saturating_mul(1 << queue.failures.min(16)).min(PAUSE.1);
        queue.failures = queue.failures.saturating_add(1);
        drop(queue);
        if self.failed.try_send(Retry { at: Instant::now() + pause, lane }).is_err() {
            tracing::error!(lane = lane.number(), "a lane was given back for a retry twice");
        }
        pause
    }

    /// The channel of lanes given back by [`Lanes::failed`]. The receiver calls [`Lanes::again`] for each, when it is
    /// time or when it stops.
    pub fn retries(&self) -> &Receiver<Retry> {
        &self.retries
    }

    /// Since when the first job that waits longest has waited.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.queues.iter().filter_map(|queue| queue.lock().jobs.front().map(|(_, since)| *since)).min()
    }

    /// Removes the first job of a lane. Returns since when it waited.
    pub(super) fn done(&self, lane: Lane) -> Option<Instant> {
        let mut queue = self.queue(lane);
        queue.failures = 0;
        let done = queue.jobs.pop_front();
        if queue.jobs.is_empty() {
            queue.busy = false;
            // A thousand queues, each as large as in its busiest hour, would take much memory.
            queue.jobs.shrink_to(KEPT);
        } else {
            // To the end of the channel, so that no lane starves the others.
            self.hint(lane);
        }
        done.map(|(_, since)| since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_a_limit() {
        let lanes = Lanes::new();
        let lane = Lane::new(3).expect("a lane");
        let pauses: Vec<_> = (0..9)
            .map(|_| {
                let pause = lanes.failed(lane);
                assert_eq!(lanes.retries().try_recv().map(|retry| retry.lane), Ok(lane));
                pause.as_millis()
            })
            .collect();
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        lanes.done(lane);
        assert_eq!(lanes.failed(lane), PAUSE.0);
    }
}
