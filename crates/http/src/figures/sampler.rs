//! Samples of figures that may take long: a request waits for a fresh one for a while, then gets the last one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::web;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// See [`Sampler::sample`].
const FIRST: u32 = 4;

/// Takes samples, one at a time.
#[derive(Debug)]
pub(crate) struct Sampler<T> {
    turn: Arc<Semaphore>,
    last: Arc<Mutex<Option<T>>>,
    begun: Instant,
}

impl<T> Default for Sampler<T> {
    fn default() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), last: Arc::default(), begun: Instant::now() }
    }
}

impl<T: Clone + Send + 'static> Sampler<T> {
    /// The age of a sample that was taken at a time; while there is none, the time since the start.
    pub(crate) fn age(&self, taken_at: Option<Instant>) -> Duration {
        taken_at.unwrap_or(self.begun).elapsed()
    }

    /// A fresh sample; the last one if another is being taken, or if this takes longer than `time_limit`. Does not count as
    /// a request that waits for the disk, because figures are needed most when there are many of these. The first sample
    /// is waited for [`FIRST`] times as long: there is none to give instead.
    pub(crate) async fn sample(
        &self,
        time_limit: Duration,
        take: impl FnOnce() -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let time_limit = if self.last.lock().is_none() { time_limit * FIRST } else { time_limit };
        if let Ok(turn) = Arc::clone(&self.turn).try_acquire_owned() {
            let last = Arc::clone(&self.last);
            let taken = web::block(move || {
                if let Some(sample) = take() {
                    *last.lock() = Some(sample);
                }
                drop(turn);
            });
            // In time or not, the answer is the last sample.
            let _ = tokio::time::timeout(time_limit, taken).await;
        } else if self.last.lock().is_none() {
            // The first sample of all is being taken.
            let _ = tokio::time::timeout(time_limit, self.turn.acquire()).await;
        }
        self.last.lock().clone()
    }
}
