//! The queues of jobs, and the channel that tells workers which of them to look at.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::model::{Job, LANES, Lane};

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Hinted at, or with a worker. A lane is in the channel at most once.
    busy: bool,
}

/// Lanes of jobs: within one, job after job; different ones side by side.
#[derive(Debug)]
pub struct Lanes {
    queues: Box<[Mutex<Queue>]>,
    hints: Sender<Lane>,
    inbox: Receiver<Lane>,
}

impl Lanes {
    pub(super) fn new() -> Self {
        // As many places as lanes: a hint always fits.
        let (hints, inbox) = bounded(usize::from(LANES));
        Self { queues: (0..LANES).map(|_| Mutex::default()).collect(), hints, inbox }
    }

    fn queue(&self, lane: Lane) -> MutexGuard<'_, Queue> {
        self.queues[usize::from(lane.number())].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, job: Job) {
        let mut queue = self.queue(job.id.lane);
        queue.jobs.push_back(job);
        if !queue.busy {
            queue.busy = true;
            self.hint(job.id.lane);
        }
    }

    fn hint(&self, lane: Lane) {
        if self.hints.try_send(lane).is_err() {
            tracing::error!(lane = lane.number(), "a lane was hinted at twice");
        }
    }

    /// Where workers learn of lanes with something to do. Whoever receives a lane owns it until it
    /// calls [`Lanes::again`], or [`Backlog::finish`](super::Backlog::finish) for its first job.
    pub fn ready(&self) -> &Receiver<Lane> {
        &self.inbox
    }

    /// The first job of a lane; it stays there until it is finished.
    pub fn first(&self, lane: Lane) -> Option<Job> {
        self.queue(lane).jobs.front().copied()
    }

    /// Gives a lane back with its first job not done.
    pub fn again(&self, lane: Lane) {
        self.hint(lane);
    }

    pub(super) fn done(&self, lane: Lane) {
        let mut queue = self.queue(lane);
        queue.jobs.pop_front();
        if queue.jobs.is_empty() {
            queue.busy = false;
        } else {
            // To the end of the channel, so that no lane starves the others.
            self.hint(lane);
        }
    }
}
