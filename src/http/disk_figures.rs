//! Figures that may need the disk: those of the store and the process.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::web;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::api::Api;
use crate::clock::processor_time;
use crate::store::Usage;

/// A request waits this long for fresh figures, then gets the last ones.
const PATIENCE: Duration = Duration::from_millis(500);

/// Figures of one instant.
#[derive(Debug, Clone)]
pub(super) struct DiskFigures {
    /// When they were taken.
    pub(super) at: Instant,
    pub(super) store: Arc<Usage>,
    pub(super) process: Process,
}

/// The process as the operating system reports it; `None` for a missing figure.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Process {
    /// Memory in use, bytes.
    pub(super) resident_bytes: Option<u64>,
    /// Open files and connections.
    pub(super) open_files: Option<u64>,
    /// Limit of open files.
    pub(super) max_files: Option<u64>,
    /// Time of processors used by all threads, seconds.
    pub(super) processor_seconds: f64,
}

/// Takes samples, one at a time.
#[derive(Debug)]
pub(super) struct Sampler {
    turn: Arc<Semaphore>,
    last: Mutex<Option<DiskFigures>>,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), last: Mutex::new(None) }
    }
}

impl Api {
    /// Fresh figures; the last ones if another sample is being taken, or if sampling is slow. Sampling does not count
    /// as a request that waits for the disk, because figures are needed most when there are many of these.
    pub(super) async fn sample(self: &Arc<Self>) -> Option<DiskFigures> {
        if let Ok(turn) = Arc::clone(&self.sampler.turn).try_acquire_owned() {
            let api = Arc::clone(self);
            let taken = web::block(move || {
                match api.feed().store().usage() {
                    Ok(store) => {
                        let sample =
                            DiskFigures { at: Instant::now(), store: Arc::new(store), process: Process::now() };
                        *api.sampler.last.lock() = Some(sample);
                    }
                    Err(error) => tracing::warn!(%error, "the figures of the store could not be read"),
                }
                drop(turn);
            });
            // In time or not, the answer is the last sample.
            let _ = tokio::time::timeout(PATIENCE, taken).await;
        } else if self.sampler.last.lock().is_none() {
            // The first sample of all is being taken.
            let _ = tokio::time::timeout(PATIENCE, self.sampler.turn.acquire()).await;
        }
        self.sampler.last.lock().clone()
    }
}

impl Process {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        Self {
            resident_bytes: number_after(&status, "VmRSS:").map(|kib| kib * 1024),
            open_files: fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64),
            max_files: number_after(&limits, "Max open files"),
            processor_seconds: processor_time().as_secs_f64(),
        }
    }
}

/// The number after a word at the beginning of a line.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(word))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_read_as_linux_writes_it() {
        let status = "Name:\ttideline\nVmRSS:\t   12345 kB\nRssAnon:\t 1 kB\n";
        assert_eq!(number_after(status, "VmRSS:"), Some(12_345));
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max open files            1024                 4096                 files     \n";
        assert_eq!(number_after(limits, "Max open files"), Some(1024));
        assert_eq!(number_after("Max open files            unlimited", "Max open files"), None);
    }
}
