//! Threads that work until they are to stop.

use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use model::error::Result;
use model::{priority, threads};

/// Running threads. When this is dropped, each ends after the step under way.
#[derive(Debug)]
pub(crate) struct Threads {
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
    /// Starts a thread with the priority of jobs. The channel that its work gets is disconnected when it is to stop.
    pub(crate) fn start(&mut self, name: String, work: impl FnOnce(&Receiver<()>) + Send + 'static) -> Result<()> {
        let stopped = self.stopped.clone();
        let run = move || {
            priority::lower(priority::JOBS);
            work(&stopped);
        };
        self.running.push(threads::start(&name, run)?);
        Ok(())
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
