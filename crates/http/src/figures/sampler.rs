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
    taken: Arc<Mutex<Taken<T>>>,
    begun: Instant,
}

#[derive(Debug)]
struct Taken<T> {
    /// The last sample, and when it was begun.
    last: Option<(Instant, T)>,
    /// Since when another one is being taken.
    since: Option<Instant>,
}

impl<T> Default for Sampler<T> {
    fn default() -> Self {
        let taken = Arc::new(Mutex::new(Taken { last: None, since: None }));
        Self { turn: Arc::new(Semaphore::new(1)), taken, begun: Instant::now() }
    }
}

impl<T: Clone + Send + 'static> Sampler<T> {
    /// The age of a sample that was taken at a time; while there is none, the time since the start.
    pub(crate) fn age(&self, taken_at: Option<Instant>) -> Duration {
        taken_at.unwrap_or(self.begun).elapsed()
    }

    /// A sample that was begun after the call; the last one if this takes longer than `time_limit`, and at once if another one
    /// has taken so long already. Does not count as a request that waits for the disk, because figures are needed most when
    /// there are many of these. The first sample is waited for [`FIRST`] times as long: there is none to give instead.
    pub(crate) async fn sample(
        &self,
        time_limit: Duration,
        take: impl FnOnce() -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let (last, since) = self.state();
        let time_limit = if last.is_none() { time_limit * FIRST } else { time_limit };
        // One that has panicked is not under way.
        if self.turn.available_permits() == 0 && since.is_some_and(|since| since.elapsed() > time_limit) {
            return last.map(|(_, sample)| sample);
        }
        // In time or not, the answer is the last sample.
        let _ = tokio::time::timeout(time_limit, self.take_after(Instant::now(), take)).await;
        self.state().0.map(|(_, sample)| sample)
    }

    fn state(&self) -> (Option<(Instant, T)>, Option<Instant>) {
        let taken = self.taken.lock();
        (taken.last.clone(), taken.since)
    }

    /// Takes a sample in turn, unless the one before was begun after this time: one that is being taken may lack what was
    /// changed just before.
    async fn take_after(&self, time: Instant, take: impl FnOnce() -> Option<T> + Send + 'static) {
        // It is never closed.
        let Ok(turn) = Arc::clone(&self.turn).acquire_owned().await else { return };
        let taken = Arc::clone(&self.taken);
        if self.state().0.is_some_and(|(begun, _)| begun > time) {
            return;
        }
        let work = move || {
            let begun = Instant::now();
            taken.lock().since = Some(begun);
            let sample = take();
            let mut taken = taken.lock();
            taken.since = None;
            if let Some(sample) = sample {
                taken.last = Some((begun, sample));
            }
            drop(taken);
            drop(turn);
        };
        let _ = web::block(work).await;
    }
}
