//! Failures: a failed job does not hold up other lanes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, after, never, select};

use super::Context;
use crate::error::{Error, Result};
use crate::model::Lane;

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
    pub(super) fn failed(&self, lane: Lane, error: &Error) {
        self.tally.failure();
        let pause = self.backlog.lanes().failed(lane);
        let pause_ms = pause.as_millis() as u64;
        match error {
            // The store logs when it begins to refuse writes, and when it takes them again.
            _ if error.is_unavailable() => tracing::debug!(%error, pause_ms, "a job waits for the storage"),
            _ => tracing::error!(%error, lane = lane.number(), pause_ms,
                "a job failed; it is tried again after the pause"),
        }
    }

    /// Holds the lanes of failed jobs until it is time for another try.
    pub(super) fn run_retries(&self, stopped: &Receiver<()>) {
        let mut waiting = BinaryHeap::new();
        loop {
            let next = match waiting.peek() {
                None => never(),
                Some(Reverse(crate::backlog::Retry { at, .. })) => after(at.saturating_duration_since(Instant::now())),
            };
            select! {
                recv(stopped) -> _ => break,
                recv(self.backlog.lanes().retries()) -> retry => waiting.extend(retry.ok().map(Reverse)),
                recv(next) -> _ => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        assert!(matches!(guarded(|| Ok(1)), Ok(1)));
        let error = guarded::<()>(|| panic!("no {}", "way")).expect_err("panics");
        assert_eq!(error.to_string(), "panicked: no way");
    }
}
