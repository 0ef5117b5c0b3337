//! Failures: a failed job does not hold up other lanes, and one that fails again and again not even its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, after, never, select, tick};

use super::Context;
use crate::inbox::backlog::{Failed, Retry};
use model::Job;
use model::error::{Error, Result};

/// The interval of looks for parked jobs whose time has come.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Does a part of a job. A panic becomes an error, so that its lane is given back.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // A panic leaves nothing half done: changes on disk are whole, and the caller closes its state after any error.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::Panicked(text.unwrap_or("(no message)").to_owned()))
    })
}

impl Context {
    /// Gives back the lane of a failed job for another try.
    pub(super) fn failed(&self, job: &Job, error: &Error) {
        self.tally.failures.add(1);
        let work = job.work;
        let Failed { is_parked, pause, is_news } = self.backlog.failed(job.id, !error.is_unavailable());
        match (is_news, is_parked) {
            (true, false) => tracing::error!(%error, ?work, ?pause, "a job failed; it is tried again after the pause"),
            (true, true) => tracing::warn!(%error, ?work, ?pause,
                "a job has failed too often and is parked: other jobs go on and pages stay right; it is tried again \
                 after the pause, and by the next start"),
            // The store logs when it begins to refuse writes, and when it takes them again.
            (false, _) => tracing::debug!(%error, ?work, ?pause, "a job failed again, or waits for the storage"),
        }
    }

    /// The result of work that is repeated later; `None` after an error, which is logged.
    pub(super) fn done<T>(&self, done: Result<T>, failure: impl Display) -> Option<T> {
        match done {
            Ok(done) => return Some(done),
            Err(error) if error.is_unavailable() => tracing::debug!(%error, "{failure}"),
            Err(error) => {
                self.tally.failures.add(1);
                tracing::error!(%error, "{failure}");
            }
        }
        None
    }

    /// Holds the lanes of failed jobs until it is time for another try.
    pub(super) fn run_retries(&self, stopped: &Receiver<()>) {
        let (mut waiting, looks) = (BinaryHeap::new(), tick(LOOK_EVERY));
        loop {
            let next = match waiting.peek() {
                None => never(),
                Some(Reverse(Retry { at, .. })) => after(at.saturating_duration_since(Instant::now())),
            };
            select! {
                recv(stopped) -> _ => break,
                recv(self.backlog.lanes().retries()) -> retry => waiting.extend(retry.ok().map(Reverse)),
                recv(next) -> _ => {}
                recv(looks) -> _ => self.backlog.unpark(Instant::now()),
            }
            while let Some(Reverse(retry)) = waiting.peek().copied()
                && retry.at.saturating_duration_since(Instant::now()) == Duration::ZERO
            {
                waiting.pop();
                self.backlog.lanes().again(retry.lane);
            }
        }
        // The next workers find them.
        for Reverse(retry) in waiting {
            self.backlog.lanes().again(retry.lane);
        }
    }
}
