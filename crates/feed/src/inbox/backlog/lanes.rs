//! The queues of jobs, and the channels that give them to workers.
//!
//! A job that fails again and again is *parked*: it leaves its lane to the jobs behind it, and comes back to the end of
//! the lane much later. While it is parked, others of its lane, which often share its fault, are parked at their first
//! failure. The order of jobs in a lane does not matter.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use model::sync::{Mutex, MutexGuard};
use model::{Job, JobId, LANES, Lane};

/// First and longest pause before a failed job is tried again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
/// Failures of a job after which it is parked.
const MOST_FAILURES: u32 = 5;
/// First and longest time for which a job is parked.
const PARKED_FOR: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));
/// Jobs that an empty queue keeps memory for.
const KEPT: usize = 16;

/// A job that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    job: Job,
    /// Since when it waits in this run.
    since: Instant,
    /// How often it was parked.
    parked: u32,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Waiting>,
    /// In a channel, with a worker, or waiting for a retry; each lane at most once.
    busy: bool,
    /// How often an attempt at the first job has failed,
    attempts: u32,
    /// and how often for a reason of its own.
    failures: u32,
    /// How many jobs of the lane are parked.
    parked: usize,
}

/// The jobs that wait.
#[derive(Debug)]
struct State {
    /// By lane.
    queues: Box<[Queue]>,
    /// By the time of the next attempt.
    parked: BTreeMap<(Instant, JobId), Waiting>,
}

/// The fate of a job that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed {
    /// Whether it is parked; otherwise it stays first in its lane.
    pub is_parked: bool,
    /// The time until it is tried again.
    pub pause: Duration,
    /// Whether this is its first failure for a reason of its own, or the first time that it is parked. Not while another
    /// job of its lane is parked.
    pub is_news: bool,
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
    state: Mutex<State>,
    most_parked: usize,
    hints: Sender<Lane>,
    inbox: Receiver<Lane>,
    failed: Sender<Retry>,
    retries: Receiver<Retry>,
}

impl Lanes {
    pub(super) fn new(most_parked: usize) -> Self {
        // As many places as lanes: a hint always fits.
        let (hints, inbox) = bounded(usize::from(LANES));
        let (failed, retries) = bounded(usize::from(LANES));
        let queues = (0..LANES).map(|_| Queue::default()).collect();
        let state = Mutex::new(State { queues, parked: BTreeMap::new() });
        Self { state, most_parked, hints, inbox, failed, retries }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(super) fn push(&self, job: Job) {
        self.enter(&mut self.state(), Waiting { job, since: Instant::now(), parked: 0 });
    }

    fn enter(&self, state: &mut State, waiting: Waiting) {
        let lane = waiting.job.id.lane;
        let queue = state.queue(lane);
        if waiting.parked > 0 {
            queue.parked = queue.parked.saturating_sub(1);
        }
        queue.jobs.push_back(waiting);
        if !queue.busy {
            queue.busy = true;
            self.again(lane);
        }
    }

    /// The channel of lanes with jobs. A worker that receives a lane owns it until it calls [`Lanes::again`],
    /// [`Backlog::failed`](super::Backlog::failed) or [`Backlog::finish`](super::Backlog::finish) for its first job.
    pub fn ready(&self) -> &Receiver<Lane> {
        &self.inbox
    }

    /// The first job of a lane; it stays there until it is finished.
    pub fn first(&self, lane: Lane) -> Option<Job> {
        self.state().queue(lane).jobs.front().map(|first| first.job)
    }

    /// Tells workers of a lane with jobs; gives a lane back with its first job not done.
    pub fn again(&self, lane: Lane) {
        if self.hints.try_send(lane).is_err() {
            tracing::error!(lane = lane.number(), "a lane was reported as ready twice");
        }
    }

    /// Gives back a lane whose first job failed, which is parked if it has failed too often for a reason of its own
    /// (`is_own`). Otherwise the lane goes to [`Lanes::retries`], with a pause that doubles with each failure. No worker
    /// waits for it meanwhile.
    pub(super) fn failed(&self, lane: Lane, is_own: bool) -> Failed {
        let mut state = self.state();
        let queue = state.queue(lane);
        let pause = doubled(PAUSE, queue.attempts);
        queue.attempts = queue.attempts.saturating_add(1);
        queue.failures += u32::from(is_own);
        let first = queue.jobs.front().copied();
        let is_new = queue.parked == 0 && first.is_none_or(|first| first.parked == 0);
        let stuck = first.filter(|_| is_own && (!is_new || queue.failures >= MOST_FAILURES));
        let is_news = is_own && is_new && queue.failures == 1;
        if let Some(pause) = stuck.and_then(|stuck| state.park(stuck, self.most_parked)) {
            self.leave(&mut state, lane);
            return Failed { is_parked: true, pause, is_news: is_new };
        }
        drop(state);
        if self.failed.try_send(Retry { at: Instant::now() + pause, lane }).is_err() {
            tracing::error!(lane = lane.number(), "a lane was given back for a retry twice");
        }
        Failed { is_parked: false, pause, is_news }
    }

    /// Lets the parked job whose time has come first enter its lane again; false if there is none.
    pub(super) fn unpark(&self, now: Instant) -> bool {
        let mut state = self.state();
        let due = state.parked.first_entry().filter(|first| first.key().0 <= now).map(|first| first.remove());
        due.map(|waiting| self.enter(&mut state, waiting)).is_some()
    }

    /// How many jobs are parked.
    pub(super) fn parked(&self) -> usize {
        self.state().parked.len()
    }

    /// The channel of lanes that [`Backlog::failed`](super::Backlog::failed) has given back. The receiver calls
    /// [`Lanes::again`] for each, when it is time or when it stops.
    pub fn retries(&self) -> &Receiver<Retry> {
        &self.retries
    }

    /// Since when the first job that waits longest has waited.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.state().queues.iter().filter_map(|queue| queue.jobs.front().map(|first| first.since)).min()
    }

    /// Removes the first job of a lane. Returns since when it waited.
    pub(super) fn done(&self, lane: Lane) -> Option<Instant> {
        self.leave(&mut self.state(), lane).map(|done| done.since)
    }

    fn leave(&self, state: &mut State, lane: Lane) -> Option<Waiting> {
        let queue = state.queue(lane);
        (queue.attempts, queue.failures) = (0, 0);
        let first = queue.jobs.pop_front();
        if queue.jobs.is_empty() {
            queue.busy = false;
            // A thousand queues, each as large as in its busiest hour, would take much memory.
            queue.jobs.shrink_to(KEPT);
        } else {
            // To the end of the channel, so that no lane starves the others.
            self.again(lane);
        }
        first
    }
}

impl State {
    fn queue(&mut self, lane: Lane) -> &mut Queue {
        &mut self.queues[usize::from(lane.number())]
    }

    /// Parks a job, unless too many are parked. Returns for how long.
    fn park(&mut self, mut stuck: Waiting, most: usize) -> Option<Duration> {
        if self.parked.len() >= most {
            return None;
        }
        let time = doubled(PARKED_FOR, stuck.parked);
        stuck.parked = stuck.parked.saturating_add(1);
        self.queue(stuck.job.id.lane).parked += 1;
        self.parked.insert((Instant::now() + time, stuck.job.id), stuck);
        Some(time)
    }
}

/// The first time, doubled so often, up to the longest.
fn doubled((first, longest): (Duration, Duration), times: u32) -> Duration {
    first.saturating_mul(1 << times.min(16)).min(longest)
}
