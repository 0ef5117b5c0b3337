//! Threads with names.

use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::error::{Error, Result};
use crate::priority;

/// Starts a thread. Fails if the system gives none.
pub fn start<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>> {
    let started = Builder::new().name(name.to_owned()).spawn(work);
    started.map_err(|e| Error::Setup(format!("cannot start a thread: {e}")))
}

/// Tries until it succeeds, or fails with an error that does not pass, or for at most so long, with pauses between. Returns what
/// came last.
pub fn try_for<T, E>(
    longest: Duration,
    pause: Duration,
    passes: impl Fn(&E) -> bool,
    mut work: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let began = Instant::now();
    loop {
        match work() {
            Err(error) if passes(&error) && began.elapsed() < longest => thread::sleep(pause),
            tried => return tried,
        }
    }
}

/// Threads that work until they are to stop. When this is dropped, each ends after the step under way.
#[derive(Debug)]
pub struct Threads {
    stop: Option<Sender<()>>,
    stopped: Receiver<()>,
    running: Vec<JoinHandle<()>>,
}

impl Default for Threads {
    fn default() -> Self {
        let (stop, stopped) = bounded(0);
        Self { stop: Some(stop), stopped, running: Vec::new() }
    }
}

impl Threads {
    /// Starts a thread. The channel that its work gets is disconnected when it is to stop.
    pub fn start(&mut self, name: &str, work: impl FnOnce(&Receiver<()>) + Send + 'static) -> Result<()> {
        let stopped = self.stopped.clone();
        self.running.push(start(name, move || work(&stopped))?);
        Ok(())
    }

    /// Starts a thread with the priority of jobs.
    pub fn start_jobs(&mut self, name: &str, work: impl FnOnce(&Receiver<()>) + Send + 'static) -> Result<()> {
        self.start(name, move |stopped| {
            priority::lower(priority::JOBS);
            work(stopped);
        })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        drop(self.stop.take());
        for thread in self.running.drain(..) {
            let name = thread.thread().name().unwrap_or_default().to_owned();
            if thread.join().is_err() {
                tracing::error!(name, "a thread panicked");
            }
        }
    }
}
