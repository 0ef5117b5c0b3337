//! Fan-out on write: one item into many inboxes.
//!
//! A fan-out is split into chunks of followers, ascending by id. Each free worker takes the next chunk, and after it
//! looks for other jobs: between two chunks a fan-out waits in the queue `help` ([`super::turns`]). The job's progress
//! on disk moves when all chunks up to a point are written. So a restart repeats at most the chunks that were
//! under way, and repeating one changes nothing.
//! Where there is more than one chunk, online followers come first ([`super::online`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use crossbeam_channel::Receiver;

use super::retry::guarded;
use super::{Context, is_over};
use crate::follows;
use crate::inbox::tables;
use crate::inbox::tables::{Delivery, Then};
use model::clock::now;
use model::error::{Error, Result};
use model::sync::{Mutex, MutexGuard};
use model::{Entry, Job, Progress, Reach, UserId};

/// A fan-out under way, shared by the workers that help with it.
#[derive(Debug)]
pub(super) struct FanOut {
    job: Job,
    entry: Entry,
    reach: Reach,
    /// Online followers who have the item already, ascending.
    early: Vec<UserId>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The last follower that was given to a chunk.
    taken_to: Option<UserId>,
    /// No more chunks are to be taken.
    closed: bool,
    /// There are no more followers to take.
    complete: bool,
    /// In the queue, so a worker will take the next chunk.
    queued: bool,
    /// A chunk was not written: nothing after it may be recorded as done.
    failed: bool,
    /// The error, unless the workers stop.
    error: Option<Error>,
    /// The chunks under way, each by the follower after which it starts.
    running: BTreeSet<Option<UserId>>,
}

impl FanOut {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

struct Chunk {
    start: Option<UserId>,
    followers: Vec<UserId>,
}

impl State {
    /// Ends the fan-out: no more chunks, and the job is not ended.
    fn fail(&mut self, error: Option<Error>) {
        self.closed = true;
        self.failed = true;
        self.error = self.error.take().or(error);
    }

    /// The progress to record with the chunk after `start`.
    fn plan(&self, start: Option<UserId>, reach: Reach) -> Then {
        let first_other = self.running.iter().find(|other| **other != start).copied();
        match first_other {
            _ if self.failed => Then::Nothing,
            Some(other) if other < start => Then::Nothing,
            Some(other) => Then::Progress(Progress { reach, done_to: other }),
            None if self.complete => Then::End,
            None => Then::Progress(Progress { reach, done_to: self.taken_to }),
        }
    }
}

impl Context {
    /// Decides the reach of an item, or continues with the one decided before a restart.
    pub(super) fn begin_fan_out(&self, job: &Job, entry: Entry) -> Result<FanOut> {
        let mut early = Vec::new();
        let Progress { reach, done_to } = match job.progress {
            Some(progress) => progress,
            // It names a user who was erased.
            None if !self.backlog.is_pending(entry) => Progress { reach: Reach::Nobody, done_to: None },
            None => {
                let followers = follows::tables::follower_count(&self.store, entry.source)?;
                let reach = self.reach(followers);
                // A push to all leaves nothing unpushed, so it is recorded with its first chunk.
                if reach != Reach::All {
                    tables::begin_fan_out(&self.store, job.id, entry, reach)?;
                }
                if reach != Reach::Nobody && followers > self.config.fanout.chunk as u64 {
                    early = self.online_first(job.id, entry, reach)?;
                }
                Progress { reach, done_to: None }
            }
        };
        let state = State { taken_to: done_to, ..State::default() };
        Ok(FanOut { job: *job, entry, reach, early, state: Mutex::new(state) })
    }

    fn reach(&self, followers: u64) -> Reach {
        if followers <= self.config.fanout.push_threshold {
            Reach::All
        } else if followers <= self.config.fanout.pull_threshold {
            Reach::Active
        } else {
            Reach::Nobody
        }
    }

    /// Goes on with a fan-out from the queue.
    pub(super) fn go_on(&self, fan_out: &Arc<FanOut>, stopped: &Receiver<()>) {
        fan_out.state().queued = false;
        self.fan_out(fan_out, stopped);
    }

    /// Writes a chunk, and more only if the fan-out is not in the queue meanwhile. The worker that ends the last one
    /// closes the job.
    pub(super) fn fan_out(&self, fan_out: &Arc<FanOut>, stopped: &Receiver<()>) {
        if fan_out.reach == Reach::Nobody {
            return self.close(&fan_out.job, guarded(|| tables::drop_job(&self.store, fan_out.job.id)));
        }
        loop {
            let mut state = fan_out.state();
            if state.closed || state.queued {
                return;
            }
            match guarded(|| self.take(fan_out, &mut state)) {
                Ok(chunk) if !is_over(stopped) => {
                    drop(state);
                    if !self.write(fan_out, chunk) {
                        return;
                    }
                }
                taken => {
                    if let Ok(chunk) = &taken {
                        state.running.remove(&chunk.start);
                    }
                    state.fail(taken.err());
                    return self.end_failed(fan_out, state);
                }
            }
        }
    }

    /// Gives back a fan-out that no worker goes on with.
    pub(super) fn leave(&self, fan_out: &FanOut) {
        let mut state = fan_out.state();
        if !state.closed {
            state.fail(None);
            self.end_failed(fan_out, state);
        }
    }

    /// After a failure: the last worker gives the lane back.
    fn end_failed(&self, fan_out: &FanOut, mut state: MutexGuard<'_, State>) {
        if !state.running.is_empty() {
            return;
        }
        let error = state.error.take();
        drop(state);
        match error {
            Some(error) => self.failed(&fan_out.job, &error),
            // Nothing failed: the workers stop.
            None => self.backlog.lanes().again(fan_out.job.id.lane),
        }
    }

    /// The next chunk; puts the fan-out into the queue if there is more after it.
    fn take(&self, fan_out: &Arc<FanOut>, state: &mut State) -> Result<Chunk> {
        let start = state.taken_to;
        let followers =
            follows::tables::followers_after(&self.store, fan_out.entry.source, start, self.config.fanout.chunk)?;
        state.complete = followers.len() < self.config.fanout.chunk;
        state.closed = state.complete;
        state.taken_to = followers.last().copied().or(start);
        state.running.insert(start);
        // If the queue is full, this worker goes on with it.
        state.queued = state.queued || (!state.closed && self.help.try_send(Arc::clone(fan_out)).is_ok());
        Ok(Chunk { start, followers })
    }

    /// Delivers a chunk; false if no more are to be taken.
    fn write(&self, fan_out: &FanOut, chunk: Chunk) -> bool {
        let written = guarded(|| {
            let mut followers = chunk.followers;
            followers.retain(|follower| fan_out.early.binary_search(follower).is_err());
            let recipients = self.recipients(fan_out.reach, followers)?;
            let then = fan_out.state().plan(chunk.start, fan_out.reach);
            let delivery = Delivery { job: fan_out.job.id, entry: fan_out.entry, recipients: &recipients, then };
            tables::deliver(&self.store, &delivery)?;
            self.tally.chunk(recipients.len());
            Ok(then)
        });
        let mut state = fan_out.state();
        state.running.remove(&chunk.start);
        let then = match written {
            Ok(then) => then,
            Err(error) => {
                state.fail(Some(error));
                Then::Nothing
            }
        };
        if state.failed {
            self.end_failed(fan_out, state);
            return false;
        }
        let idle = state.closed && state.running.is_empty();
        drop(state);
        if then == Then::End {
            self.close(&fan_out.job, Ok(()));
        } else if idle {
            // Two chunks each saw the other under way, so neither recorded the end.
            self.close(&fan_out.job, guarded(|| tables::drop_job(&self.store, fan_out.job.id)));
        }
        true
    }

    pub(super) fn recipients(&self, reach: Reach, mut followers: Vec<UserId>) -> Result<Vec<UserId>> {
        followers.retain(|follower| self.keeps_inbox_of(*follower));
        if reach == Reach::All {
            return tables::not_evicted(&self.store, followers);
        }
        let seen_since = now().saturating_sub(self.config.timeline.active_for.as_millis());
        tables::split_active(&self.store, &followers, seen_since)
    }
}
